// SPDX-License-Identifier: MIT
// What hookit's hooks call in JProf.
#ifndef PI_JPROF_C_HOOK_FUNCTIONS_H
#define PI_JPROF_C_HOOK_FUNCTIONS_H

#include <joined_engine.h>

namespace pi::jprof {

extern const pi::callflow::JoinedEngine c_hook_functions;

}  // namespace pi::jprof

#endif  // PI_JPROF_C_HOOK_FUNCTIONS_H
