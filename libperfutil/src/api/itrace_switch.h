// SPDX-License-Identifier: MIT
// The device that ITraceOn() and ITraceOff() use, found in advance.
#ifndef PI_PERFUTIL_ITRACE_SWITCH_H
#define PI_PERFUTIL_ITRACE_SWITCH_H

#include <pi/result.h>

#include "system/device.h"

namespace pi::perfutil {

// All with call_mutex() held.

// This process owns the trace: both act on all enabled processes, by an ioctl on fd. -1: both call
// the trace's collector.
void set_itrace_owner(int fd);
// This process does not own the trace, or does not any more: both act on the calling thread.
void clear_itrace_owner();

// The device for a program that does not own the trace. Opened once in a process, and again after
// the program has closed it. PU_ERROR_DRIVER_NOT_LOADED, PU_ERROR_ACCESS_DENIED,
// PU_ERROR_NOT_SUPPORTED.
Result<Device*> device_of_program();

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_ITRACE_SWITCH_H
