/* SPDX-License-Identifier: MIT */
/*
 * libperfutil: names and numbers of the events that can be sampled (PiSetTprofEvent()) and counted
 * (perfutil/counters.h).
 *
 * Numbers and names of the original's events are from its published list; the kernel's perf counters
 * count them, see TraceSetTprofEvent(). Thread-safety: any thread; no TraceInit() is needed.
 */
#ifndef PERFUTIL_EVENTS_H
#define PERFUTIL_EVENTS_H

#include <stddef.h>

#include <perfutil/errors.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ALL_CPUS -1

#define PI_PRIV_KERNEL 1 /* where an event is counted */
#define PI_PRIV_USER 2
#define PI_PRIV_BOTH 3

#define PI_EVENT_ID_FIRST 101
#define PI_EVENT_NONHALTED_CYCLES 101
#define PI_EVENT_INSTR 102

/* How many of the original's events, 101 to 195, have a counterpart in the kernel that this user can
 * sample. 0 in many virtual machines. Never an error.
 */
int GetNumberOfPerfCounterEventsSupported(void);

/* Set *list to their numbers or names, in order: static storage, as many elements as the function
 * above returns. PU_ERROR_NULL_POINTER.
 */
int GetSupportedPerfCounterEventIdList(const int **list);
int GetSupportedPerfCounterEventNameList(const char *const **list);

struct perf_counter_event_info {
	const char *name;
	const char *description; /* "" for those without a counterpart */
	int id;
};

/* The same with descriptions. PU_ERROR_NULL_POINTER. */
int GetPerfCounterEventsInfo(const struct perf_counter_event_info **list);

/* Look up one of the original's events, whether it works here or not; static storage. Null, or 0, for
 * other numbers and names.
 */
const struct perf_counter_event_info *GetPerfCounterEventInfoFromId(int event);
const char *GetPerfCounterEventNameFromId(int event);
int GetPerfCounterEventIdFromName(const char *name);

struct pi_event {
	size_t size; /* set to sizeof(struct pi_event) by the caller */
	int id; /* the original's number, else 0 */
	int works; /* 1: this user can sample it here */
	const char *group; /* source of the name: software, hardware, original, device, libpfm4 */
	const char *name; /* for PiSetTprofEvent() */
	const char *meaning; /* another name, its terms, or a sentence; may be empty */
	const char *reason; /* why it does not work: part of a sentence; empty when it works */
};

/* Our addition: the index-th event that is known by name, and the result of trying it; the trial does
 * not go on counting. The texts are static storage. The first call of a process lists and tries all.
 * PU_ERROR_NULL_POINTER, PU_ERROR_INVALID_PARAMETER (size is not set, or there is no such index).
 */
int PiEvent(unsigned int index, struct pi_event *event);

#ifdef __cplusplus
}
#endif

#endif /* PERFUTIL_EVENTS_H */
