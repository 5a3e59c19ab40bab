/* SPDX-License-Identifier: MIT */
/*
 * libperfutil: the header that applications include. Its subjects:
 *
 *   perfutil/errors.h      return codes, and the sentence of the last error
 *   perfutil/machine.h     versions, clock and processors
 *   perfutil/trace.h       set up, start, stop and write a trace; its status
 *   perfutil/stacks.h      user stacks that the application unwinds
 *   perfutil/hooks.h       user hooks: records that an application writes
 *   perfutil/itrace.h      ITrace: every branch of traced threads
 *   perfutil/events.h      names and numbers of the events that are sampled and counted
 *   perfutil/counters.h    events counted on every CPU
 *   perfutil/cpi.h         cycles per instruction
 *   perfutil/above_idle.h  AboveIdle: idle, busy and interrupt time of each CPU
 *   perfutil/msr.h         model-specific registers
 *
 * perfutil_ptt.h, which is included by itself, has PTT: counters of each thread. perfutil.hpp is the
 * interface for C++. Each header can be included alone. What follows applies to all of them.
 *
 * Function names, parameters and return codes are those of the library of Performance Inspector,
 * "the original" in these headers, as its published API list has them. Additions of this library are
 * named Pi* and marked "our addition". There are two sources of records behind the same functions:
 * the pitrace module ("driver") and perf_event_open ("perf"); a caller need not distinguish them.
 *
 * One trace at a time: the process that calls TraceInit() owns the trace until TraceTerminate() or
 * its death, kill -9 included. Thread-safety: every function may be called from any thread; the
 * library serialises the calls. Only user hooks (TraceHook, PiTraceHook) and PTT's readers are
 * async-signal-safe, and run in parallel.
 *
 * A child of fork() owns nothing of its parent's trace, also when it is forked while the trace is
 * on. What it may call, and the result:
 *
 * - Calls that control the trace, TraceOn() and TraceOff() among them, return PI_ERROR_FORKED
 *   wherever PU_ERROR_NOT_INITIALIZED is listed. IsTraceOn(), IsTraceActive() and
 *   TraceGetIntervalId() return 0; PiCannotSee() and PiNote() return null. Neither its calls nor
 *   its end change the trace.
 * - TraceInit() begins a trace of the child's own, with the settings of its parent. From then on
 *   all calls apply to that trace.
 * - TraceHook() and PiTraceHook() write the child's own records into the trace that runs: its
 *   parent's, while that is on.
 * - ITraceOn(), ITraceOff() and PTT work as in any other program; the child begins without PTT.
 * - Counters that its parent has begun do not count in the child, handles of CpiInit() are invalid,
 *   and AboveIdle is not active. The child may begin its own.
 * - The child is itself traced, as the parent's scope (TraceSetScope()) says, until it ends.
 *
 * A thread is not cancelled (pthread_cancel) inside these functions: a cancellation waits until
 * they return. TraceHook(), PiTraceHook(), ITraceOn(), ITraceOff() and PTT's readers must not be
 * called with the cancellation type PTHREAD_CANCEL_ASYNCHRONOUS.
 *
 * Structures that begin with a size may grow at their end, and only there. The caller sets size to
 * sizeof of the structure that it was compiled with, else PU_ERROR_INVALID_PARAMETER. If a function
 * fills the structure, it sets size to the number of bytes that the library has filled: fewer when
 * the library is older than the caller; the remaining bytes become 0. If a function reads the
 * structure, fields that the caller does not know count as 0; when the library is older, the result
 * is PU_ERROR_NOT_SUPPORTED unless all bytes that the library does not know are 0.
 *
 * A function that returns int returns PU_SUCCESS or one of the negative PU_* codes, unless its
 * comment says otherwise; each comment lists the codes. PiErrorText() returns what happened and what
 * to do about it.
 */
#ifndef PERFUTIL_H
#define PERFUTIL_H

#include <stddef.h>
#include <stdint.h>

#include <perfutil/errors.h>
#include <perfutil/machine.h>
#include <perfutil/trace.h>
#include <perfutil/stacks.h>
#include <perfutil/hooks.h>
#include <perfutil/itrace.h>
#include <perfutil/events.h>
#include <perfutil/counters.h>
#include <perfutil/cpi.h>
#include <perfutil/above_idle.h>
#include <perfutil/msr.h>

#endif /* PERFUTIL_H */
