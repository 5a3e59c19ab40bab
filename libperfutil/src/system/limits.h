// SPDX-License-Identifier: MIT
// What to do when a limit of this process prevents something.
#ifndef PI_PERFUTIL_LIMITS_H
#define PI_PERFUTIL_LIMITS_H

#include <cstdint>
#include <string_view>

#include <pi/result.h>

namespace pi::perfutil {

// A thread cannot be started.
Error no_thread(std::string_view purpose);

// The shared memory of a trace buffer cannot be allocated; error: the error number.
Error no_buffer_memory(uint64_t bytes, int error);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_LIMITS_H
