/* SPDX-License-Identifier: MIT */
/*
 * libperfutil: events counted on every CPU, of all processes, from InitPerfCounterEvent() to
 * TerminatePerfCounterEvent() or the end of the process. The kernel's perf counters count them, pinned:
 * they count all the time or not at all, so no number is an estimate. An event is given by its number:
 * one of the original's (see TraceSetTprofEvent()), or one that PiInitPerfCounterEvent() returned.
 * Numbers of registers (CTR0) are not accepted.
 *
 * Names are the original's, except for Pi*. Thread-safety: any thread; calls are serialised. No
 * TraceInit() is needed.
 */
#ifndef PERFUTIL_COUNTERS_H
#define PERFUTIL_COUNTERS_H

#include <stdint.h>

#include <perfutil/errors.h>
#include <perfutil/events.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Allocates an array of zeros with one element for each CPU that may come online, indexed by CPU
 * number. *size, unless size is null, becomes its length in bytes. Null when there is no memory.
 * FreeCtrValueArray() accepts null.
 */
uint64_t *AllocCtrValueArray(int *size);
void FreeCtrValueArray(uint64_t *values);

/* Sets such an array to zeros. PU_ERROR_NULL_POINTER. */
int ZeroCtrValueArray(uint64_t *values);

/* How many hardware events the processor counts at once, measured by opening more and more counters of
 * branch-instructions; 0 where there are no counters. Never an error.
 */
int GetNumberOfSimultaneousPerfCounterEventsSupported(void);

/* 1 when this user can count the original's event on all CPUs here, else 0. */
int IsPerfCounterEventSupported(int event);

/* 1 while this process counts the event, or any event, else 0. */
int IsPerfCounterEventActive(int event);
int AnyPerfCounterEventActive(void);

/* Begins to count from 0. priv: PI_PRIV_*.
 * PU_ERROR_INVALID_METRIC (no such number), PU_ERROR_INVALID_PRIVILEGE, PU_ERROR_EVENT_ALREADY_COUNTING,
 * PU_ERROR_EVENT_NOT_SUPPORTED (this machine does not count it), PU_ERROR_FACILITY_BUSY (no counter is free),
 * PU_ERROR_ACCESS_DENIED, PU_ERROR_NOT_ENOUGH_MEMORY, PU_ERROR_NOT_SUPPORTED (the system does not
 * report its CPUs).
 */
int InitPerfCounterEvent(int event, int priv);

/* Our addition: the same by any name that PiSetTprofEvent() accepts, or one that PiLoadEventDefinitions()
 * has read; that takes precedence. Returns the event's number, above 0, for the functions below: the
 * original's number if the name is one of the original's. Also PU_ERROR_NULL_POINTER.
 */
int PiInitPerfCounterEvent(const char *name, int priv);

/* End, pause, resume, set to 0. These four and ReadPerfCounterEvent(): PU_ERROR_EVENT_NOT_COUNTING when
 * the event has not been initialised, PU_ERROR_FACILITY_BUSY when others have taken its counters
 * meanwhile. Stopping and resuming keep the counts; CPUs stop one after the other.
 */
int TerminatePerfCounterEvent(int event);
int StopPerfCounterEvent(int event);
int ResumePerfCounterEvent(int event);
int ResetPerfCounterEvent(int event);

/* counts: the count of each CPU since the event was initialised or reset. times, which may be null: the
 * nanoseconds during which each CPU counted (the original returned cycles). Both are arrays of
 * AllocCtrValueArray(). A CPU that went offline keeps its count, one that came online counts from the
 * next call on. Counters that the CPUs of a package share count on one of them; the others have the
 * count 0 and the time 0. PU_ERROR_NULL_POINTER and as above.
 */
int ReadPerfCounterEvent(int event, uint64_t *counts, uint64_t *times);

/* Our addition: reads a file of event definitions, pitrace-events(5), either completely or not at all.
 * An earlier definition of the same name is replaced; events that are being counted do not change.
 * PU_ERROR_NULL_POINTER, PU_ERROR_FILE (it cannot be read), PU_ERROR_INVALID_PARAMETER (the text has the
 * line and the problem).
 */
int PiLoadEventDefinitions(const char *file);

/* Our addition: as PiEvent(), but works is 1 when this user can count the event on all CPUs here; more
 * events can be counted than sampled. Events of PiLoadEventDefinitions() come first, as group "own".
 */
int PiCounterEvent(unsigned int index, struct pi_event *event);

#ifdef __cplusplus
}
#endif

#endif /* PERFUTIL_COUNTERS_H */
