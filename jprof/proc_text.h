// SPDX-License-Identifier: MIT
// Facts about this process from /proc.
#ifndef PI_JPROF_PROC_TEXT_H
#define PI_JPROF_PROC_TEXT_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pi::jprof {

// Nothing if it cannot be read.
std::optional<std::string> read_proc(const char* path);

// Removes the first line from the text and returns it without its line feed.
std::string_view next_line(std::string_view& text);

// The inode number of the namespace that the link refers to, 0 if it cannot be read.
uint64_t namespace_inode(const char* link);

}  // namespace pi::jprof

#endif  // PI_JPROF_PROC_TEXT_H
