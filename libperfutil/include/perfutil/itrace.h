/* SPDX-License-Identifier: MIT */
/* libperfutil: ITrace. */
#ifndef PERFUTIL_ITRACE_H
#define PERFUTIL_ITRACE_H

#include <stddef.h>
#include <stdint.h>

#include <perfutil/errors.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which instructions threads execute, user's and kernel's, as the branches that they take. Order:
 * TraceInit, TraceOn, ITraceInit, ITraceEnable*, ITraceOn ... ITraceOff, ITraceTerminate, TraceOff. The
 * process that owns the trace installs ITrace and enables what it likes; any program that may open the
 * device enables itself and turns ITrace on and off for its own threads, whoever owns the trace.
 *
 * Without the module the source perf has user code alone followed, by ptrace, of processes that are
 * enabled one by one before ITraceOn() and that this user may trace; not of the caller's own.
 *
 * A traced thread runs a hundred and more times slower. Warm up what is to be measured, and keep it short.
 */
#define PI_ITRACE_RING 0x01        /* records tell user from kernel code; always */
#define PI_ITRACE_COUNT 0x02       /* records tell how many instructions were executed */
#define PI_ITRACE_STEP 0x04        /* step instructions also where the processor can trap branches; COUNT does */
#define PI_ITRACE_INTERRUPTS 0x10  /* show where interrupts came and how long they took */
#define PI_ITRACE_NO_KERNEL 0x100  /* our additions, from here on: user code only */
#define PI_ITRACE_NO_USER 0x200    /* kernel code only; only the module can */
#define PI_ITRACE_CHILDREN 0x400   /* also processes that a traced one forks */
#define PI_ITRACE_CONTINUOUS 0x800 /* lose nothing of user code: hold threads back until there is room */

/* Return codes of all that follow, in the order in which they are looked for:
 * PU_ERROR_DRIVER_NOT_LOADED, PU_ERROR_ACCESS_DENIED (the device, or what only the owner of the trace
 * may do), PU_ERROR_NOT_SUPPORTED (a module older than this library, a kernel without the hooks that
 * are needed, what ptrace cannot do), PU_ERROR_NOT_INITIALIZED (the owner has not called TraceInit()),
 * PU_ERROR_INCORRECT_STATE (ITrace is not installed, or what each tells), and what each tells.
 */

/* flags: PI_ITRACE_*. Forgets which processes were enabled, and has the records of ITrace and names (major
 * 0x19) recorded. PU_ERROR_INCORRECT_STATE when installed, PU_ERROR_INVALID_PARAMETER,
 * PU_ERROR_NOT_ENOUGH_MEMORY.
 */
int ITraceInit(int flags);

/* Our addition. threads: how many can be traced at a time, 1 to 65,536; 0: 4,096. reserve: with
 * PI_ITRACE_CONTINUOUS, bytes of each CPU's buffer that are kept for what a thread does in the kernel, where
 * it cannot be held back; 0: 4 MB.
 */
int PiITraceInit(int flags, uint32_t threads, uint32_t reserve);

/* Turns ITrace off for all, and leaves nothing behind. PU_ERROR_INCORRECT_STATE when not installed. */
int ITraceTerminate(void);

#if defined(__GNUC__) && !defined(__clang__) && !defined(PI_NO_PLT) /* clang has -fno-plt only */
/* The linker finds them when the program is loaded: not, instruction by instruction, when the first of them
 * is called while ITrace is on. */
#define PI_NO_PLT __attribute__((__noplt__))
#elif !defined(PI_NO_PLT)
#define PI_NO_PLT
#endif

/* Turn ITrace on and off: of the calling thread, where a program calls them; of all threads of the enabled
 * processes and of those that they start, where the trace's owner does. Any thread. What ITraceOn() does
 * last, and ITraceOff() first, is the system call: a constant few instructions of theirs are in the
 * trace. The first call of a process takes longer, as it opens the device; call ITraceEnableCurrent()
 * before, which does it. A child of fork() is a program of its own.
 * PU_ERROR_INCORRECT_STATE (not installed, no trace on, not enabled; on, or off, already),
 * PU_ERROR_INSUFFICIENT_RESOURCES (as many threads as there is room for are traced).
 */
int ITraceOn(void) PI_NO_PLT;
int ITraceOff(void) PI_NO_PLT;

/* Forgets the processes that were enabled; call it before enabling others. The owner. */
int ITraceDisable(void);

/* Which processes can be traced, in the initial pid namespace's numbers: all, the caller's, one, those
 * with this number or a greater one, a range, the count ones in the list, up to the first error. They add to
 * what is enabled; 64 ranges at most.
 * PU_ERROR_INVALID_PARAMETER, PU_ERROR_NULL_POINTER, PU_ERROR_INSUFFICIENT_RESOURCES (too many ranges);
 * without the module PU_ERROR_NOT_SUPPORTED for more than one at a time, and for the caller's own.
 */
int ITraceEnableAll(void);
int ITraceEnableCurrent(void);
int ITraceEnablePid(int pid);
int ITraceEnableGreater(int pid);
int ITraceEnableRange(int first, int last);
int ITraceEnableList(const int *pids, int count);

/* Accepted, and does nothing: the original let every count-th timer interrupt only through while it
 * traced, so that time did not run away; we leave the timer alone. PU_ERROR_INVALID_PARAMETER below 0.
 */
int ITraceSetSkipCount(int count);

/* The original's older names. The ITrace_On_* enable and then do as ITraceOn(). */
int ITrace_Set_Skip_Count(int count);
int ITrace_On_CurPID(void);
int ITrace_On_GTPID(int pid);
int ITrace_On_PIDList(const int *pids, int count);
int ITrace_Off(void);

#define PI_ITRACE_BY_BRANCH_TRAP 1 /* the processor stops user code at taken branches; the kernel is stepped */
#define PI_ITRACE_BY_STEP 2        /* the module steps every instruction */
#define PI_ITRACE_BY_PTRACE 3      /* the trace's owner does, user code only */

struct pi_itrace_status {
	size_t size; /* set to sizeof(struct pi_itrace_status) by the caller */
	int installed;
	int on; /* for all enabled processes */
	int flags; /* PI_ITRACE_* */
	int how; /* PI_ITRACE_BY_*; 0 when not installed */
	uint32_t threads; /* traced now */
	uint32_t untraced; /* for which there was no room, or that could not be traced */
	uint32_t dirty; /* that may still carry a trap flag, after ITraceTerminate() */
	uint64_t steps; /* stops since ITraceInit() */
	uint64_t branches; /* recorded */
	uint64_t gaps;
};

/* Our addition. PU_ERROR_NULL_POINTER, PU_ERROR_INVALID_PARAMETER when size is not set. */
int PiITraceStatus(struct pi_itrace_status *status);

#ifdef __cplusplus
}
#endif

#endif /* PERFUTIL_ITRACE_H */
