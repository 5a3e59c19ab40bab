// SPDX-License-Identifier: MIT
// Reads JProf's log of threads, log-jtnm (include/pi/jit_log.h).
#ifndef PI_TOOLS_COMMON_THREAD_LOG_H
#define PI_TOOLS_COMMON_THREAD_LOG_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pi {

// The name of a thread from a time on.
struct ThreadStart {
  uint64_t time = 0;
  uint32_t tid = 0;  // in its process's pid namespace
  std::string name;  // followed by "/#ID" or "/#ID,NAME" while it carries a virtual thread
};

enum class VirtualThreads { ignored, shown };

// Whether a text begins as these logs do: the path may name another file by now.
bool is_thread_log(std::string_view text);

// Sorted by time. The text is untrusted: malformed lines are ignored, and so is the last line if it
// is incomplete.
std::vector<ThreadStart> parse_thread_log(std::string_view text,
                                          VirtualThreads virtual_threads = VirtualThreads::shown);

}  // namespace pi

#endif  // PI_TOOLS_COMMON_THREAD_LOG_H
