/* SPDX-License-Identifier: MIT */
/* The LTTng-UST tracepoints for the comparison with user hooks, as functions. */
#ifndef PITRACE_BENCH_HOOK_LTTNG_H
#define PITRACE_BENCH_HOOK_LTTNG_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void bench_lttng_ints(uint32_t i);
void bench_lttng_string(uint32_t i);
void bench_lttng_other(uint32_t i); /* an event that the session does not enable */

#ifdef __cplusplus
}
#endif

#endif
