/* SPDX-License-Identifier: MIT */
/* libperfutil: events counted on every CPU. */
#ifndef PERFUTIL_COUNTERS_H
#define PERFUTIL_COUNTERS_H

#include <stdint.h>

#include <perfutil/errors.h>
#include <perfutil/events.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Events counted on every CPU, for everybody, from InitPerfCounterEvent() to TerminatePerfCounterEvent()
 * or the process's end. The kernel's perf counters do it, pinned: they count all the time or not at
 * all, and no number is an estimate. An event is one of the original's, by its number (see
 * TraceSetTprofEvent()), or a number that PiInitPerfCounterEvent() gave. Numbers of registers (CTR0) are
 * not taken.
 */

/* An array of zeros, one for each CPU that may come online, by number. *size becomes its length in
 * bytes; size may be null. Null when there is no memory. FreeCtrValueArray() takes null.
 */
uint64_t *AllocCtrValueArray(int *size);
void FreeCtrValueArray(uint64_t *values);

/* Sets such an array to zeros. PU_ERROR_NULL_POINTER. */
int ZeroCtrValueArray(uint64_t *values);

/* How many hardware events the processor counts at once, found by asking the kernel for more and more
 * branch-instructions; 0 where there are no counters. Never an error.
 */
int GetNumberOfSimultaneousPerfCounterEventsSupported(void);

/* 1 when this user can count the original's event on all CPUs here, else 0. */
int IsPerfCounterEventSupported(int event);

/* 1 while this process counts it, or any, else 0. */
int IsPerfCounterEventActive(int event);
int AnyPerfCounterEventActive(void);

/* Begins to count from 0. priv: PI_PRIV_*.
 * PU_ERROR_INVALID_METRIC (no such number), PU_ERROR_INVALID_PRIVILEGE, PU_ERROR_EVENT_ALREADY_COUNTING,
 * PU_ERROR_EVENT_NOT_SUPPORTED (this machine does not count it), PU_ERROR_FACILITY_BUSY (no counter is free),
 * PU_ERROR_ACCESS_DENIED, PU_ERROR_NOT_ENOUGH_MEMORY, PU_ERROR_NOT_SUPPORTED (the system does not
 * tell its CPUs).
 */
int InitPerfCounterEvent(int event, int priv);

/* Our addition: the same by any name that PiSetTprofEvent() takes, or one that PiLoadEventDefinitions() has
 * read, which comes before the others. Returns the event's number, above 0, for the functions below; the
 * original's own where the name is one of its. Also PU_ERROR_NULL_POINTER.
 */
int PiInitPerfCounterEvent(const char *name, int priv);

/* All five: PU_ERROR_EVENT_NOT_COUNTING when it has not been initialised. Stopping and resuming keep the
 * counts; CPUs stop one after the other. PU_ERROR_FACILITY_BUSY: its counters have been taken meanwhile.
 */
int TerminatePerfCounterEvent(int event);
int StopPerfCounterEvent(int event);
int ResumePerfCounterEvent(int event);
int ResetPerfCounterEvent(int event);

/* counts: what each CPU has counted since the event was initialised or reset. times, which may be null: for
 * how many nanoseconds it has; the original gave cycles. A CPU that went offline keeps what it had, one
 * that came online counts from the next call on. Both are arrays of AllocCtrValueArray(). Counters that the
 * CPUs of a package share count on one of them; the others have 0 and the time 0.
 * PU_ERROR_NULL_POINTER and as above.
 */
int ReadPerfCounterEvent(int event, uint64_t *counts, uint64_t *times);

/* Our addition: reads definitions of one's own events, pitrace-events(5), all of the file or nothing. What was
 * defined before by the same name is replaced; what is being counted stays.
 * PU_ERROR_NULL_POINTER, PU_ERROR_FILE (it cannot be read), PU_ERROR_INVALID_PARAMETER (the text names the
 * line and what is wrong with it).
 */
int PiLoadEventDefinitions(const char *file);

/* Our addition: as PiEvent(), but works tells whether this user can count it on all CPUs here, which is more
 * than can be sampled. Those that PiLoadEventDefinitions() has read come first, as group "own".
 */
int PiCounterEvent(unsigned int index, struct pi_event *event);

#ifdef __cplusplus
}
#endif

#endif /* PERFUTIL_COUNTERS_H */
