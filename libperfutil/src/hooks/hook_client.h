// SPDX-License-Identifier: MIT
// User hooks on the side of the process that writes them: finds the trace and stores records in it.
#ifndef PI_PERFUTIL_HOOK_CLIENT_H
#define PI_PERFUTIL_HOOK_CLIENT_H

#include "hook_record.h"

namespace pi::perfutil {

// There is a trace, and it does not store that major: nothing else need be known of the hook.
bool user_hook_is_unwanted(uint32_t major);

// As PiTraceHook(). Async-signal-safe, all of them.
int write_user_hook(const HookRecord& record);

// As PiTraceHookInterval().
uint32_t user_hook_interval();

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_HOOK_CLIENT_H
