/* SPDX-License-Identifier: MIT */
/*
 * libperfutil: versions, clock and processors. Names are the original's, except for Pi*.
 *
 * Thread-safety: any thread; no TraceInit() is needed.
 */
#ifndef PERFUTIL_MACHINE_H
#define PERFUTIL_MACHINE_H

#include <stdint.h>

#include <perfutil/errors.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library's version: major << 24 | minor << 16 | revision. */
uint32_t GetDLLVersionEx(void);

/* ABI version of the loaded module as major << 24 | minor << 16, 0 when it is not loaded. */
uint32_t GetDDVersionEx(void);

/* 1 when /dev/pitrace exists, else 0. */
int IsDeviceDriverInstalled(void);

/* 1 when at least one source can sample (write ticks) on this machine, else 0. */
int IsTprofSupported(void);

/* The trace clock now, nanoseconds of CLOCK_MONOTONIC. */
uint64_t ReadCycles(void);

/* Nominal frequency of the processor in Hz, 0 when the system does not report it. */
uint64_t GetProcessorSpeed(void);

/* Our addition: the number of processors online now. */
int PiGetActiveProcessorCount(void);

/* Writes the numbers of the processors online, in order and at most n of them, to list, which may be
 * null when n is 0. Returns how many are online, 0 when the system does not report it, or
 * PU_ERROR_NULL_POINTER.
 */
int GetActiveProcessorList(int *list, int n);

#ifdef __cplusplus
}
#endif

#endif /* PERFUTIL_MACHINE_H */
