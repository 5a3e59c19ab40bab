// SPDX-License-Identifier: MIT
// User hooks on the side of the process that writes them: finds the trace and stores records in it.
#ifndef PI_PERFUTIL_HOOK_CLIENT_H
#define PI_PERFUTIL_HOOK_CLIENT_H

#include "hook_record.h"

namespace pi::perfutil {

// As PiTraceHook(). Async-signal-safe.
int write_user_hook(const HookRecord& record);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_HOOK_CLIENT_H
