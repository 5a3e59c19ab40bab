/* SPDX-License-Identifier: MIT */
/*
 * libperfutil: AboveIdle, the CPU use: how the time of each CPU divides into idle task, other tasks
 * and interrupts. The source is the module's hooks when its device can be opened, else /proc/stat.
 * AboveIdle needs no trace and no TraceInit(), and runs next to any trace. A process has one use of it.
 *
 * Names are the original's, except for Pi*. Thread-safety: any thread; calls are serialised.
 */
#ifndef PERFUTIL_ABOVE_IDLE_H
#define PERFUTIL_ABOVE_IDLE_H

#include <stdint.h>

#include <perfutil/errors.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PI_AI_HOOKS 1     /* exact */
#define PI_AI_PROC_STAT 2 /* idle time in steps of 10 ms; interrupt time is sampled by the kernel's
                           * clock tick, unless the kernel was built to measure it */

/* Sums since AiInit(), times in nanoseconds (the original counted cycles).
 * CurTime = IdleTime + BusyTime + IntrTime; the time that a hypervisor takes away is in BusyTime.
 */
struct ai_counters {
	uint64_t CurTime; /* 0: this CPU is not online */
	uint64_t IdleTime; /* the idle task, outside interrupts */
	uint64_t BusyTime; /* any other task, outside interrupts */
	uint64_t IntrTime; /* interrupts, and the softirqs that run in irq_exit() */
	uint32_t DispCnt; /* dispatches (context switches); 0 from /proc/stat */
	uint32_t IntrCnt; /* interrupts; 0 from /proc/stat */
};

/* Always 1: one of the two sources is there. */
int IsAiSupported(void);

/* 1 between AiInit() and AiTerminate(), else 0. */
int IsAiActive(void);

/* Begins to count from 0. PU_ERROR_INCORRECT_STATE when active, PU_ERROR_NOT_SUPPORTED (no module and
 * no /proc/stat).
 */
int AiInit(void);

/* Ends counting. PU_ERROR_NOT_INITIALIZED. */
int AiTerminate(void);

/* Our addition: PI_AI_HOOKS or PI_AI_PROC_STAT; 0 before AiInit(). */
int PiAiSource(void);

/* Allocates an array of zeros with one element for each CPU that may come online, indexed by CPU
 * number. *size, unless size is null, becomes its length in bytes. Null when there is no memory.
 * AiFreeCounters() frees the array and accepts null.
 */
struct ai_counters *AiAllocCounters(int *size);
void AiFreeCounters(struct ai_counters *counters);

/* Sets such an array to zeros. PU_ERROR_NULL_POINTER. */
int AiZeroCounters(struct ai_counters *counters);

/* Fills such an array. PU_ERROR_NULL_POINTER, PU_ERROR_NOT_INITIALIZED, PU_FAILURE (the source cannot
 * be read).
 */
int AiGetCounters(struct ai_counters *counters);

#ifdef __cplusplus
}
#endif

#endif /* PERFUTIL_ABOVE_IDLE_H */
