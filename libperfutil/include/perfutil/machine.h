/* SPDX-License-Identifier: MIT */
/* libperfutil: versions, and facts about this machine. */
#ifndef PERFUTIL_MACHINE_H
#define PERFUTIL_MACHINE_H

#include <stdint.h>

#include <perfutil/errors.h>

#ifdef __cplusplus
extern "C" {
#endif

/* major << 24 | minor << 16 | revision */
uint32_t GetDLLVersionEx(void);

/* ABI version of the loaded module as major << 24 | minor << 16, 0 when it is not loaded. */
uint32_t GetDDVersionEx(void);

/* 1 when /dev/pitrace exists, else 0. */
int IsDeviceDriverInstalled(void);

/* 1 when ticks can be had on this machine from either source, else 0. */
int IsTprofSupported(void);

/* The trace clock now, nanoseconds of CLOCK_MONOTONIC. */
uint64_t ReadCycles(void);

/* Nominal speed of the processor in Hz, 0 when the system does not tell. */
uint64_t GetProcessorSpeed(void);

/* Processors online now. */
int PiGetActiveProcessorCount(void);

/* Their numbers, in order: as many as there are room for, n, are written to list, which may be null when
 * n is 0. Returns how many there are; 0 when the system does not tell. PU_ERROR_NULL_POINTER.
 */
int GetActiveProcessorList(int *list, int n);

#ifdef __cplusplus
}
#endif

#endif /* PERFUTIL_MACHINE_H */
