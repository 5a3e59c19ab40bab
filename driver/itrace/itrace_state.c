// SPDX-License-Identifier: GPL-2.0-only
/* ITrace's lock and state: data only. */

#include "itrace_state.h"

struct pitrace_it_setup pitrace_it_setup;
bool pitrace_it_runs;
struct pitrace_it_state pitrace_it_state = {
	.lock = __MUTEX_INITIALIZER(pitrace_it_state.lock),
};
DEFINE_PER_CPU(struct pitrace_it_cpu, pitrace_it_cpus);
