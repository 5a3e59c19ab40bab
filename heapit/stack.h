// SPDX-License-Identifier: MIT
// The callers of a function of this library.
#ifndef PI_HEAPIT_STACK_H
#define PI_HEAPIT_STACK_H

#include "call_path.h"
#include "code.h"
#include "here_x86.h"

namespace pi::heapit {

void find_callers(const Here& here, Code& code, Stack& stack);

}  // namespace pi::heapit

#endif  // PI_HEAPIT_STACK_H
