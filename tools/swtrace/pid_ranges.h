// SPDX-License-Identifier: MIT
// A selection of processes: "all", "4711", "4711-", "100-200", "1,2,10-20".
#ifndef PI_SWTRACE_PID_RANGES_H
#define PI_SWTRACE_PID_RANGES_H

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pi::swtrace {

// First and last, both included.
using PidRange = std::pair<int, int>;

// Nothing if the text is no such selection.
std::optional<std::vector<PidRange>> parse_pid_ranges(const std::string& text);

}  // namespace pi::swtrace

#endif  // PI_SWTRACE_PID_RANGES_H
