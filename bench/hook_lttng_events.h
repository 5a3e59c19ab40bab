/* SPDX-License-Identifier: MIT */
/* LTTng-UST's description of the tracepoints; it includes this file several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER pitrace_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./hook_lttng_events.h"

#if !defined(PITRACE_BENCH_HOOK_LTTNG_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define PITRACE_BENCH_HOOK_LTTNG_EVENTS_H

#include <lttng/tracepoint.h>

#define FOUR_INTS                                                                         \
  lttng_ust_field_integer(unsigned int, a, a) lttng_ust_field_integer(unsigned int, b, b) \
      lttng_ust_field_integer(unsigned int, c, c) lttng_ust_field_integer(unsigned int, d, d)

LTTNG_UST_TRACEPOINT_EVENT(pitrace_bench, ints,
                           LTTNG_UST_TP_ARGS(unsigned int, a, unsigned int, b, unsigned int, c,
                                             unsigned int, d),
                           LTTNG_UST_TP_FIELDS(FOUR_INTS))

LTTNG_UST_TRACEPOINT_EVENT(pitrace_bench, text,
                           LTTNG_UST_TP_ARGS(unsigned int, a, unsigned int, b, unsigned int, c,
                                             unsigned int, d, const char*, name),
                           LTTNG_UST_TP_FIELDS(FOUR_INTS lttng_ust_field_string(name, name)))

LTTNG_UST_TRACEPOINT_EVENT(pitrace_bench, other,
                           LTTNG_UST_TP_ARGS(unsigned int, a, unsigned int, b, unsigned int, c,
                                             unsigned int, d),
                           LTTNG_UST_TP_FIELDS(FOUR_INTS))

#endif

#include <lttng/tracepoint-event.h>
