// SPDX-License-Identifier: MIT
// The event that causes ticks, and the stacks of ticks and dispatches.
#ifndef PI_PERFUTIL_SAMPLING_H
#define PI_PERFUTIL_SAMPLING_H

#include <cstdint>
#include <span>
#include <string>

#include <pitrace/abi.h>
#include <pitrace/encode.h>

#include "perfutil.h"

namespace pi::perfutil {

// Time, or an event of the kernel's perf counters, with the fields of struct perf_event_attr.
struct TickEvent {
  std::string name;  // as the user entered it
  uint32_t type = PITRACE_EVENT_TIME;
  uint64_t config = 0;
  uint64_t config1 = 0;
  uint64_t config2 = 0;
  uint64_t period = 0;  // events a tick
  uint32_t flags = 0;   // PITRACE_EVENT_NO_KERNEL, _NO_USER, _RANDOM

  bool is_time() const { return type == PITRACE_EVENT_TIME; }
};

struct StackChoice {
  uint32_t which = 0;  // PITRACE_STACKS_*, or 0
  uint32_t depth = PITRACE_STACK_DEPTH_DEFAULT;
};

// The application's functions that find the frames of user stacks, and how many bytes of a stack
// they get; 0: stacks follow frame pointers.
struct StackCopies {
  pi_stack_resolver resolver{};
  uint32_t bytes = 0;
};

// The stack at the end of a record, see abi.h. The caller owns the frames.
struct Stack {
  bool exists = false;
  uint32_t flags = 0;             // PITRACE_STACK_*_BROKEN and _CUT
  std::span<const __u64> kernel;  // from the innermost; at most PITRACE_STACK_DEPTH_MAX
  std::span<const __u64> user;

  uint32_t ints() const {
    return exists ? pitrace_stack_ints(flags, static_cast<uint32_t>(kernel.size()),
                                       static_cast<uint32_t>(user.size()))
                  : 0;
  }
  void put(uint32_t* place) const {
    if (exists)
      pitrace_put_stack(place, flags, kernel.data(), static_cast<uint32_t>(kernel.size()),
                        user.data(), static_cast<uint32_t>(user.size()), 0);
  }
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_SAMPLING_H
