/* SPDX-License-Identifier: MIT */
/*
 * hookit: call flow of programs that are compiled with -finstrument-functions (gcc, clang): the number
 * of calls of each function in each chain of callers, and what they took. The compiler's calls of
 * __cyg_profile_func_enter() and __cyg_profile_func_exit() are all that a program needs: link it
 * with -lhookit and set environment variables, see hookit(7). These functions are for programs that
 * choose themselves what is recorded.
 *
 * Thread-safety: every function may be called from any thread, but not from a signal handler. A
 * child of fork() begins without counts, and records if its parent did.
 *
 * Definition: section 4.3 of the paper that pitrace/abi.h names; the functions are our addition.
 */
#ifndef HOOKIT_H
#define HOOKIT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Begins to record, with the options of HOOKIT_PROFILING and JPROFOPTS; counts of an earlier
 * recording that were not written are discarded. 0; -1: HOOKIT_PROFILING is not "on", an option is
 * wrong, or a metric cannot be measured, which a message on stderr explains; a profiler of
 * HOOKIT_PROFILER records.
 */
int hookit_start(void);

/* Ends the recording and writes its logs. 0; -1: nothing is recorded, or a log cannot be written
 * (message on stderr).
 */
int hookit_stop(void);

/* Writes the log-rt of what was recorded until now; the recording continues. Returns as
 * hookit_stop().
 */
int hookit_flush(void);

/* Sets all counts to 0; functions that are running are shown with no calls. 0; -1: nothing is
 * recorded, or events are logged (CALLTRACE).
 */
int hookit_reset(void);

/* ---- for profilers that HOOKIT_PROFILER names ------------------------------------------------ */

/* The functions of a profiler. function: address of the function that is entered or left; stack: its
 * stack pointer at the call of the hook, plus a constant; pc: where the hook returns to; for a function that is patched its own
 * address, or null if its caller ended with a jump to it. They are
 * called in every thread and signal handler; their callees must not be instrumented.
 */
struct hookit_profiler {
	size_t size; /* sizeof(struct hookit_profiler) */
	void (*enter)(void *function, void *stack, void *pc);
	void (*leave)(void *function, void *stack, void *pc);
};

/* The library exports this function: its profiler, or null if it does not want to record. */
const struct hookit_profiler *hookit_get_profiler(void);

#ifdef __cplusplus
}
#endif

#endif /* HOOKIT_H */
