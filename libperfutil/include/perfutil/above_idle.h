/* SPDX-License-Identifier: MIT */
/* libperfutil: AboveIdle. */
#ifndef PERFUTIL_ABOVE_IDLE_H
#define PERFUTIL_ABOVE_IDLE_H

#include <stdint.h>

#include <perfutil/errors.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the time of each CPU goes: to the idle task, to other tasks, to interrupts. From the module's
 * hooks when its device can be opened, else from /proc/stat. Needs no trace and no TraceInit(), and
 * runs beside any trace. One use of it in a process.
 */
#define PI_AI_HOOKS 1     /* exact */
#define PI_AI_PROC_STAT 2 /* idle time in steps of 10 ms; interrupts as the kernel's clock tick met
                           * them, unless the kernel was built to measure them */

/* Sums since AiInit(). Field names are the original's; it counted cycles, we nanoseconds.
 * CurTime = IdleTime + BusyTime + IntrTime; the time that a hypervisor takes away is in BusyTime.
 */
struct ai_counters {
	uint64_t CurTime; /* 0: this CPU is not online */
	uint64_t IdleTime; /* the idle task, outside interrupts */
	uint64_t BusyTime; /* any other task, outside interrupts */
	uint64_t IntrTime; /* interrupts, and the soft interrupts on their way out */
	uint32_t DispCnt; /* dispatches; 0 from /proc/stat */
	uint32_t IntrCnt; /* interrupts; 0 from /proc/stat */
};

/* 1: it always is, from one source or the other. */
int IsAiSupported(void);

/* 1 between AiInit() and AiTerminate(), else 0. */
int IsAiActive(void);

/* PU_ERROR_INCORRECT_STATE when active, PU_ERROR_NOT_SUPPORTED (no module and no /proc/stat). */
int AiInit(void);

/* PU_ERROR_NOT_INITIALIZED. */
int AiTerminate(void);

/* Our addition: PI_AI_HOOKS or PI_AI_PROC_STAT; 0 before AiInit(). */
int PiAiSource(void);

/* An array of zeros, one for each CPU that may come online, by number. *size becomes its length in
 * bytes; size may be null. Null when there is no memory. Any thread; AiFreeCounters() ends it and takes
 * null.
 */
struct ai_counters *AiAllocCounters(int *size);
void AiFreeCounters(struct ai_counters *counters);

/* Sets such an array to zeros. PU_ERROR_NULL_POINTER. */
int AiZeroCounters(struct ai_counters *counters);

/* Fills such an array. PU_ERROR_NULL_POINTER, PU_ERROR_NOT_INITIALIZED, PU_FAILURE (the source
 * does not answer).
 */
int AiGetCounters(struct ai_counters *counters);

#ifdef __cplusplus
}
#endif

#endif /* PERFUTIL_ABOVE_IDLE_H */
