// SPDX-License-Identifier: GPL-2.0-only
/* State that all files of PTT use: the lock, the instance, its setup, and what each CPU charges. */

#include "ptt.h"

DEFINE_MUTEX(pitrace_ptt_lock);

struct pitrace_ptt_instance pitrace_ptt_instance = { .ints = true };

struct pitrace_ptt_setup pitrace_ptt_setup;

DEFINE_PER_CPU(struct pitrace_ptt_cpu_state, pitrace_ptt_cpus);
