/* SPDX-License-Identifier: MIT */
/* What earlier_caller.c needs of perfutil.h as it was when struct pi_trace_status ended with
 * throttled, and struct pi_event with meaning. */
#ifndef EARLIER_PERFUTIL_H
#define EARLIER_PERFUTIL_H

#include <stddef.h>
#include <stdint.h>

#define PU_SUCCESS 0
#define PI_SOURCE_PERF 2
#define PI_LOST_REASONS 4

int PiSetSource(int source);
int TraceInit(uint32_t bytes);
int TraceTerminate(void);
const char* PiErrorText(void);

struct pi_trace_counts {
  uint64_t produced;
  uint64_t written;
  uint64_t lost[PI_LOST_REASONS];
};

struct pi_trace_status {
  size_t size;
  int source;
  int scope;
  int pid;
  int on;
  int full;
  uint32_t interval_id;
  uint32_t cpus;
  uint64_t trace_bytes;
  uint64_t mte_bytes;
  uint32_t rate;
  uint64_t tick_ns;
  struct pi_trace_counts trace;
  struct pi_trace_counts mte;
  uint64_t missed;
  uint64_t throttled;
};

int PiTraceStatus(struct pi_trace_status* status);

struct pi_event {
  size_t size;
  int id;
  int works;
  const char* group;
  const char* name;
  const char* meaning;
};

int PiEvent(unsigned int index, struct pi_event* event);

#endif /* EARLIER_PERFUTIL_H */
