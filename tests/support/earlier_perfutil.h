/* SPDX-License-Identifier: MIT */
/* The part of perfutil.h and perfutil_ptt.h that earlier_caller.c uses, from the time when
 * struct pi_trace_status ended with throttled, struct pi_event with meaning, struct
 * pi_itrace_status with steps, struct pi_ptt_options with threads and struct pi_ptt_state with
 * unit. Contains all structures whose size a caller sets. */
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

int PiCounterEvent(unsigned int index, struct pi_event* event);

struct pi_itrace_status {
  size_t size;
  int installed;
  int on;
  int flags;
  int how;
  uint32_t threads;
  uint32_t untraced;
  uint32_t dirty;
  uint64_t steps;
};

int PiITraceStatus(struct pi_itrace_status* status);

struct pi_ptt_options {
  size_t size;
  unsigned int flags;
  unsigned int threads;
};

#define PI_PRIV_BOTH 3
#define MAX_PTT_METRICS 8

int PiPttInit(int count, const char* const names[], int priv, const struct pi_ptt_options* options);
int PttTerminate(void);

struct pi_ptt_state {
  size_t size;
  int source;
  int read;
  unsigned int read_cycles;
  int active;
  int ints;
  int keep;
  int owner;
  int metrics;
  int metric[MAX_PTT_METRICS];
  char name[MAX_PTT_METRICS][32];
  char unit[MAX_PTT_METRICS][16];
};

int PttGetState(struct pi_ptt_state* state);

struct pi_stack_resolver {
  size_t size;
  void* context;
  void (*begin)(void* context);
  void (*change)(void* context, const void* change);
  int (*resolve)(void* context, const void* copy, int last, uint64_t* addresses, uint32_t space,
                 void* frames);
  const char* (*note)(void* context, unsigned int index);
};

#endif /* EARLIER_PERFUTIL_H */
