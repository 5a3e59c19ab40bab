/* SPDX-License-Identifier: MIT */
/*
 * libperfutil: cycles per instruction (CPI) of CPUs, the system, threads and processes.
 *
 * Names are the original's, except for Pi*. Thread-safety: any thread; calls are serialised, and the
 * data of a handle is valid until its next call. No TraceInit() is needed.
 */
#ifndef PERFUTIL_CPI_H
#define PERFUTIL_CPI_H

#include <stdint.h>

#include <perfutil/errors.h>
#include <perfutil/events.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PI_CPI_RAW 1 /* every CPU and the system: always */
#define PI_CPI_SCALED 2 /* and with AboveIdle's busy time */
#define PI_CPI_THREAD 4 /* and the thread that called CpiInit() */
#define PI_CPI_TRACE_ON_GET 8 /* CpiGet() is CpiGetAndTrace() */
#define PI_CPI_TRACE_ONLY 0x10 /* the same, and the caller does not use the data */
#define PI_CPI_TRACE_SUMMARY 0x20 /* one record, for the system: the default */
#define PI_CPI_TRACE_DETAIL 0x40 /* and one for each CPU */

#define PI_CPI_MAJOR 0xc0
#define PI_CPI_MINOR 1

/* Sums since CpiStart(). Instructions are those completed, in interrupts and outside. A ratio is 0 where
 * no instruction was completed.
 */
struct pi_cpi {
	int cpu; /* ALL_CPUS: the system, or the thread */
	uint64_t counted_ns; /* how long it was counted; for the system the sum over its CPUs */
	uint64_t cycles; /* of the time-stamp counter meanwhile; not for a thread */
	uint64_t busy_cycles; /* those of them outside the idle task (PI_CPI_SCALED), interrupts included */
	uint64_t active_cycles; /* of the processor while not halted (cpu-cycles) */
	uint64_t instructions;
	double raw_cpi; /* cycles / instructions */
	double scaled_cpi; /* busy_cycles / instructions */
	double active_cpi; /* active_cycles / instructions */
};

struct cpi_data {
	int mode; /* PI_CPI_RAW | ... */
	uint64_t elapsed_ns; /* since CpiStart() */
	int cpu_count;
	const struct pi_cpi *cpus; /* in order of their numbers */
	struct pi_cpi system; /* sums over CPUs, and their ratios */
	struct pi_cpi thread;
};

/* 1 when this user can count cycles and instructions of all CPUs, else 0. */
int IsCpiSupported(void);

/* Makes a handle, *handle, to be given to CpiTerminate(). Cycles and instructions of a CPU are counted
 * together, all the time or not at all. flags: PI_CPI_*.
 * PU_ERROR_NULL_POINTER, PU_ERROR_INVALID_PARAMETER (unknown flags), and as InitPerfCounterEvent().
 */
int CpiInit(int flags, void **handle);

/* Our additions. PiCpiInit(): as CpiInit(), counting in user mode, kernel mode or both: priv, PI_PRIV_*;
 * CpiInit() counts both. PiCpiInitProcess(): counts one thread, pid, and all threads and processes that it
 * starts from now on; it begins at the next exec of pid, and the result is that of PI_CPI_THREAD. Also
 * PU_ERROR_INVALID_PRIVILEGE.
 */
int PiCpiInit(int flags, int priv, void **handle);
int PiCpiInitProcess(int pid, int priv, void **handle);

/* All that follow: PU_ERROR_INVALID_PARAMETER for an invalid handle.
 *
 * Begins to measure, from 0 at every call; a handle of PiCpiInitProcess() measures already.
 * PU_ERROR_FACILITY_BUSY and as InitPerfCounterEvent().
 */
int CpiStart(void *handle);

/* *data belongs to the handle and is valid until its next call. PU_ERROR_NULL_POINTER,
 * PU_ERROR_NOT_INITIALIZED before CpiStart(), PU_ERROR_FACILITY_BUSY (others have taken the counters).
 */
int CpiGet(void *handle, const struct cpi_data **data);

/* The same, and writes the data to the trace as records of major 0xc0: ints cpu (0xffffffff: all), mode,
 * and low and high halves of elapsed_ns, counted_ns, cycles, busy_cycles, active_cycles, instructions;
 * strings "#CPI" and the label. flags: PI_CPI_TRACE_*; label: at most 256 bytes, null for that of
 * CpiSetTraceHookId(); data may be null. Also the errors of PiTraceHook(); *data is set then, too.
 */
int CpiGetAndTrace(void *handle, int minor, int flags, const char *label, const struct cpi_data **data);

/* Minor and label of the records of PI_CPI_TRACE_ON_GET; at first minor 1 and no label. */
int CpiSetTraceHookId(void *handle, int minor, const char *label);

/* The flags PI_CPI_RAW | ..., without PI_CPI_TRACE_*. */
int CpiGetCurrentMode(void *handle);

/* Ends measuring and frees the handle. */
int CpiTerminate(void *handle);

#ifdef __cplusplus
}
#endif

#endif /* PERFUTIL_CPI_H */
