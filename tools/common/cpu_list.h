// SPDX-License-Identifier: MIT
// Lists of CPUs on command lines.
#ifndef PI_TOOLS_COMMON_CPU_LIST_H
#define PI_TOOLS_COMMON_CPU_LIST_H

#include <optional>
#include <string_view>
#include <vector>

namespace pi::cli {

// "0-3,8", in order and each once; nothing when it is malformed.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

}  // namespace pi::cli

#endif  // PI_TOOLS_COMMON_CPU_LIST_H
