/* SPDX-License-Identifier: MIT */
/*
 * libperfutil: user hooks, the records that an application writes into a trace.
 *
 * TraceHook() is the original's; Pi* are our additions. Records: include/pitrace/abi.h, which is
 * installed as pitrace/abi.h. Thread-safety: any thread, in parallel, and async-signal-safe; no
 * TraceInit() is needed.
 */
#ifndef PERFUTIL_HOOKS_H
#define PERFUTIL_HOOKS_H

#include <stddef.h>
#include <stdint.h>

#include <perfutil/errors.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PI_HOOK_INTS_MAX 126
#define PI_HOOK_STRINGS_MAX 16
#define PI_HOOK_STRING_BYTES_MAX 2048
#define PI_HOOK_BYTES_MAX 4000 /* 12; 4 for each int; if there are strings 4, and for each string 4 and
                                * its bytes, rounded up to a multiple of 4 */

/* Writes one record into the trace that runs on this machine: the module's, when this process may
 * open its device, else that of a recorder of this user (or of the recorder that the environment
 * variable PITRACE_SOCKET names, if it is this user's or root's). The record gets the time and the
 * CPU at which it was written; it does not contain the writing thread, unless the caller stores that
 * in the ints.
 *
 * major: 1 to 254. A record of a major that is not enabled is not stored; that is a success and costs
 * some nanoseconds, as does a hook before TraceOn(), after TraceOff() and while suspended. From some
 * majors a reader derives when and where other records were made, so that one false record would
 * falsify the rest. These are refused: 1, 8, 9 and 0xa8 (time); 3, 4, 5, 0x12 and 0x13 (exceptions,
 * interrupts, system calls, dispatches); 0x10 (ticks); 0x11 (start-up); 0x20, 0x21, 0x28, 0x29, 0x2b,
 * 0x2c, 0x2e and 0x2f (ITrace); 0x19 (names of code and processes), except for its minors 0x41 and
 * 0x42 in the form of pitrace/abi.h, where the library fills in the pid.
 *
 * After string_count come int_count arguments of type unsigned int, then for each string its
 * length in bytes as unsigned int and a pointer to its first byte. No terminator is needed or
 * stored; the bytes may be any.
 *
 * errno is kept. A signal handler that has interrupted a hook must not leave by longjmp(), or fork()
 * and go on as the child. In a child of fork(), hooks are the child's own. The first hook of a process
 * connects it; without a trace the next attempt is made after 0.1 s, until when a hook costs some
 * nanoseconds. A recorder that does not answer may delay the first hook by a second.
 *
 * PU_ERROR_INVALID_PARAMETER (such a major), PU_ERROR_HOOK_TOO_LONG (more than one of the limits
 * above), PU_ERROR_NULL_POINTER, PU_ERROR_NO_BUFFER (no trace is initialised that this process may
 * write to), PU_ERROR_BUFFER_FULL (the record is lost, and counted in the trace),
 * PU_ERROR_NOT_ENOUGH_MEMORY. There is no text for PiErrorText(). A hook that is not stored, as above,
 * may return success in place of any of these but the first.
 */
int TraceHook(uint32_t major, uint32_t minor, uint32_t int_count, uint32_t string_count, ...);

struct pi_hook_string {
  const void *data;
  size_t length; /* bytes */
};

/* Our addition: as TraceHook(), with the ints and strings in arrays; an array of none may be null. */
int PiTraceHook(uint32_t major, uint32_t minor, const uint32_t *ints, uint32_t int_count,
                const struct pi_hook_string *strings, uint32_t string_count);

/* Our addition: the interval id (TraceGetIntervalId() of its owner) of the trace that hooks of this
 * process go to, while it is on, else 0. Any process, any thread, async-signal-safe; connects as a
 * hook does.
 */
uint32_t PiTraceHookInterval(void);

#ifdef __cplusplus
}
#endif

#endif /* PERFUTIL_HOOKS_H */
