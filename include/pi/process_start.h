// SPDX-License-Identifier: MIT
// When a process started. Part of the static library pi_files.
#ifndef PI_PROCESS_START_H
#define PI_PROCESS_START_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pi {

// Clock ticks from boot to the start of the process, from the text of /proc/PID/stat; see proc(5).
std::optional<uint64_t> start_ticks(std::string_view stat);

// The start of a process, "self" or its decimal number: nanoseconds of CLOCK_BOOTTIME, exact to a
// clock tick (usually 10 ms), or nothing if /proc cannot be read.
std::optional<uint64_t> started_since_boot(const std::string& process);

}  // namespace pi

#endif  // PI_PROCESS_START_H
