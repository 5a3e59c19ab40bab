// SPDX-License-Identifier: MIT
// Where ITraceOn() and ITraceOff() find the device without looking for it.
#ifndef PI_PERFUTIL_ITRACE_SWITCH_H
#define PI_PERFUTIL_ITRACE_SWITCH_H

#include <pi/result.h>

#include "system/device.h"

namespace pi::perfutil {

// All with call_mutex() held.

// This process owns the trace: they act on all enabled processes, on this descriptor. -1: they ask
// the trace.
void set_itrace_owner(int fd);
// It does not, or no more: they act on the calling thread.
void clear_itrace_owner();

// The device as a program has it that does not own the trace; opened once in a process, and again
// when it was closed. PU_ERROR_DRIVER_NOT_LOADED, PU_ERROR_ACCESS_DENIED, PU_ERROR_NOT_SUPPORTED.
Result<Device*> device_of_program();

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_ITRACE_SWITCH_H
