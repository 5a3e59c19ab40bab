// SPDX-License-Identifier: MIT
// Reads JProf's log of threads, log-jtnm (include/pi/jit_log.h).
#ifndef PI_TOOLS_COMMON_THREAD_LOG_H
#define PI_TOOLS_COMMON_THREAD_LOG_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pi {

// A thread has a name from a time on.
struct ThreadStart {
  uint64_t time = 0;
  uint32_t tid = 0;  // as its process's pid namespace counts
  std::string name;
};

// Whether a text begins as these logs do: what a path leads to by now may be anything.
bool is_thread_log(std::string_view text);

// By time. Lines that make no sense are left out: every byte may be wrong. The last line, if it is
// cut off, is none.
std::vector<ThreadStart> parse_thread_log(std::string_view text);

}  // namespace pi

#endif  // PI_TOOLS_COMMON_THREAD_LOG_H
