/* SPDX-License-Identifier: MIT */
/*
 * libperfutil: set up, start, stop and write a trace.
 *
 * Function names, parameters and return codes are those of the original library (its published
 * API list); what we add is named Pi* and says so. Two collectors stand behind the same calls:
 * the pitrace module ("driver") and perf_event_open ("perf"); a caller need not tell them apart.
 *
 * One trace at a time: the process that calls TraceInit() owns it until TraceTerminate() or its
 * death, kill -9 included. Thread-safety: every function may be called from any thread; calls
 * are serialised inside. Only user hooks (TraceHook, PiTraceHook) are async-signal-safe, and run
 * side by side.
 *
 * A child of fork() owns nothing of its parent's trace, also when it is forked while the trace is
 * on. What it may call, and what it gets:
 *
 * - Calls that control the trace, TraceOn() and TraceOff() among them, return PI_ERROR_FORKED
 *   wherever PU_ERROR_NOT_INITIALIZED is listed. IsTraceOn(), IsTraceActive() and
 *   TraceGetIntervalId() return 0; PiCannotSee() and PiNote() return null. Neither its calls nor
 *   its end change the trace.
 * - TraceInit() begins a trace of the child's own, with the settings that its parent had made.
 *   From then on all calls work on that one.
 * - TraceHook() and PiTraceHook() write the child's own records into the trace that runs: its
 *   parent's, while that is on.
 * - ITraceOn(), ITraceOff() and PTT (perfutil_ptt.h) work in it as in any other program; it begins
 *   without PTT.
 * - Counters that its parent has begun are not counting in it, handles of CpiInit() are invalid,
 *   and AboveIdle is not active. It may begin its own.
 * - It is itself traced as the parent's scope says (TraceSetScope()), until it ends.
 *
 * A thread is not cancelled (pthread_cancel) inside these functions: a cancellation waits until
 * they return. TraceHook(), PiTraceHook(), ITraceOn(), ITraceOff() and PTT's readers must not be
 * called with the cancellation type PTHREAD_CANCEL_ASYNCHRONOUS.
 *
 * Structures that begin with a size may grow at their end, and only there. The caller sets size to
 * sizeof of the structure that it was compiled with; PU_ERROR_INVALID_PARAMETER when it has not.
 * What a function fills: size becomes the number of bytes that the library has filled; these are
 * fewer when the library is older than the caller, whose further bytes become 0. What a function
 * reads: fields that the caller does not know count as 0; when the library is older,
 * PU_ERROR_NOT_SUPPORTED unless all that it does not know is 0.
 *
 * Every function that returns int returns PU_SUCCESS or one of the negative PU_* codes; each
 * lists the codes it can return. PiErrorText() tells what happened and what to do about it.
 */
#ifndef PERFUTIL_H
#define PERFUTIL_H

#include <stddef.h>
#include <stdint.h>

#include <perfutil/errors.h>
#include <perfutil/machine.h>
#include <perfutil/trace.h>
#include <perfutil/hooks.h>
#include <perfutil/itrace.h>
#include <perfutil/events.h>
#include <perfutil/counters.h>
#include <perfutil/cpi.h>
#include <perfutil/above_idle.h>
#include <perfutil/msr.h>

#endif /* PERFUTIL_H */
