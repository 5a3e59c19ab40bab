/* SPDX-License-Identifier: MIT */
/* The LTTng-UST tracepoints for the comparison with user hooks. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE

#include "hook_lttng.h"

#include "hook_lttng_events.h"

void bench_lttng_ints(uint32_t i) {
  lttng_ust_tracepoint(pitrace_bench, ints, i, 1, 2, 3);
}

void bench_lttng_string(uint32_t i) {
  lttng_ust_tracepoint(pitrace_bench, text, i, 1, 2, 3, "a name of 13b");
}

void bench_lttng_other(uint32_t i) {
  lttng_ust_tracepoint(pitrace_bench, other, i, 1, 2, 3);
}
