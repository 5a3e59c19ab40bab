// SPDX-License-Identifier: MIT
// User hooks on the side of the process that writes them: finds the trace and stores records in it.
#ifndef PI_PERFUTIL_HOOK_CLIENT_H
#define PI_PERFUTIL_HOOK_CLIENT_H

#include "hook_record.h"

namespace pi::perfutil {

// Whether there is a trace that does not store this major: then the hook need not be encoded.
bool user_hook_is_unwanted(uint32_t major);

// As PiTraceHook(). All functions here are async-signal-safe.
int write_user_hook(const HookRecord& record);

// As PiTraceHookInterval().
uint32_t user_hook_interval();

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_HOOK_CLIENT_H
