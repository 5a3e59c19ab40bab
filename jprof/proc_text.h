// SPDX-License-Identifier: MIT
// What /proc tells this process about itself.
#ifndef PI_JPROF_PROC_TEXT_H
#define PI_JPROF_PROC_TEXT_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pi::jprof {

// Nothing if it cannot be read.
std::optional<std::string> read_proc(const char* path);

// Takes the first line off the text; without its line feed.
std::string_view next_line(std::string_view& text);

// Of the namespace that the link leads to, 0 if it cannot be read.
uint64_t namespace_inode(const char* link);

// Clock ticks from boot to the process's beginning, out of the text of /proc/PID/stat.
std::optional<uint64_t> start_ticks(std::string_view stat);

}  // namespace pi::jprof

#endif  // PI_JPROF_PROC_TEXT_H
