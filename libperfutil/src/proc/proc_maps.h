// SPDX-License-Identifier: MIT
// Parses lines of /proc/PID/maps and /proc/PID/stat.
#ifndef PI_PERFUTIL_PROC_MAPS_H
#define PI_PERFUTIL_PROC_MAPS_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace pi::perfutil {

struct MapLine {
  uint64_t start = 0;
  uint64_t end = 0;
  bool executable = false;
  uint64_t offset = 0;
  uint64_t inode = 0;
  std::string_view name;  // empty for memory without a label; " (deleted)" is kept
};

// Nothing when the line is not of that form.
std::optional<MapLine> parse_map_line(std::string_view line);

// The parent pid in the text of /proc/PID/stat, whose second field may hold blanks and brackets.
std::optional<uint32_t> parse_parent(std::string_view stat);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PROC_MAPS_H
