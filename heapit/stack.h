// SPDX-License-Identifier: MIT
// The callers of a function of this library.
#ifndef PI_HEAPIT_STACK_H
#define PI_HEAPIT_STACK_H

#include <array>
#include <cstddef>
#include <cstdint>

#include <pi/heap_log.h>

#include "code.h"
#include "here_x86.h"

namespace pi::heapit {

struct Stack {
  size_t frames = 0;
  heap_log::PathEnd end = heap_log::unknown;
  std::array<uint64_t, heap_log::max_frames> addresses;  // innermost first
};

void find_callers(const Here& here, Code& code, Stack& stack);

}  // namespace pi::heapit

#endif  // PI_HEAPIT_STACK_H
