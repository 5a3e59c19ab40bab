// SPDX-License-Identifier: MIT
// Names and meanings of return codes.
#include "perfutil_ptt.h"

const char* RcToString(int rc) {
  switch (rc) {
    case PU_SUCCESS:
      return "PU_SUCCESS: done";
    case PU_FAILURE:
      return "PU_FAILURE: the operation failed";
    case PU_ERROR_NULL_POINTER:
      return "PU_ERROR_NULL_POINTER: a pointer that is needed is null";
    case PU_ERROR_FILE:
      return "PU_ERROR_FILE: a file could not be written";
    case PU_ERROR_ACCESS_DENIED:
      return "PU_ERROR_ACCESS_DENIED: not permitted for this user";
    case PU_ERROR_NOT_INITIALIZED:
      return "PU_ERROR_NOT_INITIALIZED: the trace has not been initialised";
    case PU_ERROR_NOT_ENOUGH_MEMORY:
      return "PU_ERROR_NOT_ENOUGH_MEMORY: not enough memory";
    case PU_ERROR_INVALID_PARAMETER:
      return "PU_ERROR_INVALID_PARAMETER: a parameter is out of its range";
    case PU_ERROR_INTERNAL:
      return "PU_ERROR_INTERNAL: internal error";
    case PU_ERROR_INCORRECT_STATE:
      return "PU_ERROR_INCORRECT_STATE: not possible in the trace's present state";
    case PU_ERROR_NO_BUFFER:
      return "PU_ERROR_NO_BUFFER: no trace is initialised that this process may write to";
    case PU_ERROR_BUFFER_FULL:
      return "PU_ERROR_BUFFER_FULL: a buffer is full; in normal mode recording stops by itself";
    case PU_ERROR_HOOK_TOO_LONG:
      return "PU_ERROR_HOOK_TOO_LONG: a hook has more ints, strings or bytes than a record holds";
    case PU_ERROR_DRIVER_NOT_LOADED:
      return "PU_ERROR_DRIVER_NOT_LOADED: the pitrace module is not loaded";
    case PU_ERROR_NOT_SUPPORTED:
      return "PU_ERROR_NOT_SUPPORTED: not supported here";
    case PU_ERROR_FACILITY_BUSY:
      return "PU_ERROR_FACILITY_BUSY: another process owns the trace";
    case PU_ERROR_EVENT_NOT_SUPPORTED:
      return "PU_ERROR_EVENT_NOT_SUPPORTED: this machine does not count the event";
    case PU_ERROR_INVALID_METRIC:
      return "PU_ERROR_INVALID_METRIC: there is no such event";
    case PU_ERROR_INVALID_PRIVILEGE:
      return "PU_ERROR_INVALID_PRIVILEGE: neither the kernel nor the user is to be counted";
    case PU_ERROR_THREAD_NOT_FOUND:
      return "PU_ERROR_THREAD_NOT_FOUND: there is no such thread";
    case PU_ERROR_MIXED_METRICS:
      return "PU_ERROR_MIXED_METRICS: counters by number and events exclude each other";
    case PU_ERROR_DUPLICATE_METRICS:
      return "PU_ERROR_DUPLICATE_METRICS: a metric is there twice";
    case PU_ERROR_TOO_MANY_METRICS:
      return "PU_ERROR_TOO_MANY_METRICS: more metrics than can be counted at a time";
    case PU_ERROR_PTT_USER_TABLE_FULL:
      return "PU_ERROR_PTT_USER_TABLE_FULL: no space for another thread of this user";
    case PU_ERROR_INVALID_THREAD:
      return "PU_ERROR_INVALID_THREAD: not the calling thread";
    case PU_ERROR_EVENT_NOT_COUNTING:
      return "PU_ERROR_EVENT_NOT_COUNTING: the event is not being counted";
    case PU_ERROR_EVENT_ALREADY_COUNTING:
      return "PU_ERROR_EVENT_ALREADY_COUNTING: the event is being counted already";
    case PU_ERROR_INSUFFICIENT_RESOURCES:
      return "PU_ERROR_INSUFFICIENT_RESOURCES: as many as are possible are in use";
    case PI_ERROR_FORKED:
      return "PI_ERROR_FORKED: the trace belongs to the process that forked this one";
    default:
      return "unknown return code";
  }
}
