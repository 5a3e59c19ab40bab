/* SPDX-License-Identifier: MIT */
/*
 * libperfutil: ITrace, the branch trace: which instructions threads execute, of user and kernel code,
 * as the branches that they take. Order of calls: TraceInit, TraceOn, ITraceInit, ITraceEnable*,
 * ITraceOn ... ITraceOff, ITraceTerminate, TraceOff. The owner of the trace installs ITrace and enables
 * any process; another program that may open the device can enable itself and turn ITrace on and off
 * for its own threads.
 *
 * Without the module, the source perf traces user code alone, by ptrace: of processes that are enabled
 * one by one before ITraceOn() and that this user may trace, but not of the caller.
 *
 * A traced thread runs a hundred times slower or more. Warm up the code to be measured, and keep it short.
 *
 * Names are the original's, except for Pi*. Thread-safety: any thread.
 */
#ifndef PERFUTIL_ITRACE_H
#define PERFUTIL_ITRACE_H

#include <stddef.h>
#include <stdint.h>

#include <perfutil/errors.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PI_ITRACE_RING 0x01        /* records distinguish user and kernel code; always on */
#define PI_ITRACE_COUNT 0x02       /* records have the number of instructions executed */
#define PI_ITRACE_STEP 0x04        /* single-step, no branch traps; COUNT implies it */
#define PI_ITRACE_INTERRUPTS 0x10  /* record where interrupts occurred and how long they took */
#define PI_ITRACE_NO_KERNEL 0x100  /* our additions, from here on: user code only */
#define PI_ITRACE_NO_USER 0x200    /* kernel code only; only the module can */
#define PI_ITRACE_CHILDREN 0x400   /* also trace processes that a traced one forks */
#define PI_ITRACE_CONTINUOUS 0x800 /* lose no user code: threads wait until the buffer has space */

/* Return codes of all functions below, in the order in which they are checked:
 * PU_ERROR_DRIVER_NOT_LOADED, PU_ERROR_ACCESS_DENIED (the device cannot be opened, or only the owner of
 * the trace may do this), PU_ERROR_NOT_SUPPORTED (a module older than this library, a kernel without the
 * hooks that are needed, or ptrace cannot do it), PU_ERROR_NOT_INITIALIZED (the owner has not called
 * TraceInit()), PU_ERROR_INCORRECT_STATE (ITrace is not installed, or as the function says), and those
 * that the comment of the function adds.
 */

/* Installs ITrace. flags: PI_ITRACE_*. No process is enabled afterwards; enables the majors of ITrace and
 * names (0x19). PU_ERROR_INCORRECT_STATE when installed, PU_ERROR_INVALID_PARAMETER,
 * PU_ERROR_NOT_ENOUGH_MEMORY.
 */
int ITraceInit(int flags);

/* Our addition: as ITraceInit(). threads: how many can be traced at a time, 1 to 65,536; 0: 4,096.
 * reserve: with PI_ITRACE_CONTINUOUS, bytes of each CPU's buffer that are reserved for kernel code, where
 * a thread cannot be made to wait; 0: 4 MB.
 */
int PiITraceInit(int flags, uint32_t threads, uint32_t reserve);

/* Turns ITrace off for all threads and removes it. PU_ERROR_INCORRECT_STATE when not installed. */
int ITraceTerminate(void);

#if defined(__GNUC__) && !defined(__clang__) && !defined(PI_NO_PLT) /* clang has -fno-plt only */
/* The dynamic linker resolves ITraceOn() and ITraceOff() when the program is loaded; at their first call it
 * would do so while ITrace is on, and every instruction of it would be traced. */
#define PI_NO_PLT __attribute__((__noplt__))
#elif !defined(PI_NO_PLT)
#define PI_NO_PLT
#endif

/* Turn ITrace on and off: for the calling thread, when any program calls them; for all threads of the
 * enabled processes and those that they start, when the owner of the trace does. The system call is the
 * last thing that ITraceOn() does, and the first of ITraceOff(): a small, constant number of their
 * instructions is in the trace. The first call of a process takes longer, as it opens the device;
 * ITraceEnableCurrent(), called before, opens it. A child of fork() is a program of its own.
 * PU_ERROR_INCORRECT_STATE (not installed, no trace on, not enabled; on, or off, already),
 * PU_ERROR_INSUFFICIENT_RESOURCES (the maximum number of threads is traced already).
 */
int ITraceOn(void) PI_NO_PLT;
int ITraceOff(void) PI_NO_PLT;

/* Disables all enabled processes; call it before enabling others. Only for the owner of the trace. */
int ITraceDisable(void);

/* Enable processes, by pids of the initial pid namespace: all; the caller; one; those with this pid or a
 * greater one; a range; count pids of a list, up to the first error. They add to the enabled processes; there
 * are 64 ranges at most.
 * PU_ERROR_INVALID_PARAMETER, PU_ERROR_NULL_POINTER, PU_ERROR_INSUFFICIENT_RESOURCES (too many ranges);
 * without the module PU_ERROR_NOT_SUPPORTED for more than one at a time, and for the caller's own.
 */
int ITraceEnableAll(void);
int ITraceEnableCurrent(void);
int ITraceEnablePid(int pid);
int ITraceEnableGreater(int pid);
int ITraceEnableRange(int first, int last);
int ITraceEnableList(const int *pids, int count);

/* Accepted without effect. While the original traced, it passed on only every count-th timer interrupt, so
 * that the traced time did not run away; this library does not change the timer. PU_ERROR_INVALID_PARAMETER
 * for a count below 0.
 */
int ITraceSetSkipCount(int count);

/* The original's older names. ITrace_On_*() enable as ITraceEnable*(), and then turn on as ITraceOn(). */
int ITrace_Set_Skip_Count(int count);
int ITrace_On_CurPID(void);
int ITrace_On_GTPID(int pid);
int ITrace_On_PIDList(const int *pids, int count);
int ITrace_Off(void);

#define PI_ITRACE_BY_BRANCH_TRAP 1 /* branch traps in user code; kernel code is single-stepped */
#define PI_ITRACE_BY_STEP 2        /* the module single-steps every instruction */
#define PI_ITRACE_BY_PTRACE 3      /* the owner of the trace single-steps by ptrace, user code only */

struct pi_itrace_status {
	size_t size; /* set to sizeof(struct pi_itrace_status) by the caller */
	int installed;
	int on; /* for all enabled processes */
	int flags; /* PI_ITRACE_* */
	int how; /* PI_ITRACE_BY_*; 0 when not installed */
	uint32_t threads; /* traced now */
	uint32_t untraced; /* not traced, as the maximum was reached or for another reason */
	uint32_t dirty; /* threads with TF (trap flag) possibly still set, after ITraceTerminate() */
	uint64_t steps; /* traps or ptrace stops since ITraceInit() */
	uint64_t branches; /* branches recorded */
	uint64_t gaps;
};

/* Our addition. PU_ERROR_NULL_POINTER, PU_ERROR_INVALID_PARAMETER when size is not set. */
int PiITraceStatus(struct pi_itrace_status *status);

#ifdef __cplusplus
}
#endif

#endif /* PERFUTIL_ITRACE_H */
