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
  uint32_t flags = 0;             // PITRACE_STACK_KERNEL_* and _USER_FLAGS
  std::span<const __u64> kernel;  // from the innermost; at most PITRACE_STACK_DEPTH_MAX
  std::span<const __u64> user;    // at most PITRACE_STACK_USER_DEPTH_MAX
  uint32_t table_frames = 0;  // of the user's, the innermost ones, which unwind tables have found

  uint32_t ints() const {
    if (!exists) return 0;
    return is_long() ? pitrace_long_stack_ints(of_kernel(), of_user())
                     : pitrace_stack_ints(flags, of_kernel(), of_user());
  }
  void put(uint32_t* place) const {
    if (!exists) return;
    if (is_long())
      pitrace_put_long_stack(place, flags, kernel.data(), of_kernel(), user.data(), of_user(),
                             table_frames);
    else
      pitrace_put_stack(place, flags | table_frames << 24, kernel.data(), of_kernel(), user.data(),
                        of_user(), 0);
  }

 private:
  bool is_long() const { return user.size() > PITRACE_STACK_COUNTED_FRAMES; }
  uint32_t of_kernel() const { return static_cast<uint32_t>(kernel.size()); }
  uint32_t of_user() const { return static_cast<uint32_t>(user.size()); }
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_SAMPLING_H
