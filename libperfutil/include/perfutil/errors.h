/* SPDX-License-Identifier: MIT */
/*
 * libperfutil: return codes and their texts. The numbers are the original's.
 *
 * Thread-safety: any thread; each thread has its own error text.
 */
#ifndef PERFUTIL_ERRORS_H
#define PERFUTIL_ERRORS_H

#ifdef __cplusplus
extern "C" {
#endif

#define PU_SUCCESS 0
#define PU_FAILURE -1
#define PU_ERROR_NULL_POINTER -3
#define PU_ERROR_FILE -4
#define PU_ERROR_ACCESS_DENIED -5
#define PU_ERROR_NOT_INITIALIZED -6
#define PU_ERROR_NOT_ENOUGH_MEMORY -8
#define PU_ERROR_INVALID_PARAMETER -87
#define PU_ERROR_INTERNAL -200
#define PU_ERROR_INCORRECT_STATE -201
#define PU_ERROR_NO_BUFFER -202
#define PU_ERROR_THREAD_NOT_FOUND -203
#define PU_ERROR_BUFFER_FULL -205
#define PU_ERROR_HOOK_TOO_LONG -208
#define PU_ERROR_DRIVER_NOT_LOADED -209
#define PU_ERROR_NOT_SUPPORTED -210
#define PU_ERROR_FACILITY_BUSY -211
#define PU_ERROR_EVENT_NOT_SUPPORTED -213
#define PU_ERROR_INVALID_METRIC -219
#define PU_ERROR_MIXED_METRICS -220
#define PU_ERROR_INVALID_PRIVILEGE -222
#define PU_ERROR_DUPLICATE_METRICS -223
#define PU_ERROR_TOO_MANY_METRICS -224
#define PU_ERROR_EVENT_NOT_COUNTING -229
#define PU_ERROR_EVENT_ALREADY_COUNTING -231
#define PU_ERROR_PTT_USER_TABLE_FULL -235
#define PU_ERROR_INSUFFICIENT_RESOURCES -241
#define PU_ERROR_INVALID_THREAD -255
#define PI_ERROR_FORKED -1001 /* our addition: the trace is the parent's, see perfutil.h */

/* The code's name and meaning, as "PU_ERROR_FILE: ...". Static storage, never null. */
const char *RcToString(int rc);

/* Our addition: why this thread's last call failed and what to do about it, in one or two sentences.
 * Never null, empty after a success; valid until the thread's next call. Hooks and PTT's readers do
 * not change it.
 */
const char *PiErrorText(void);

#ifdef __cplusplus
}
#endif

#endif /* PERFUTIL_ERRORS_H */
