// SPDX-License-Identifier: MIT
// Parses lines of /proc/PID/maps and /proc/PID/stat.
#include "proc_maps.h"

#include "system/text.h"

namespace pi::perfutil {

std::optional<MapLine> parse_map_line(std::string_view line) {
  std::string_view range = next_word(line, ' ');
  const auto start = parse_number(next_word(range, '-'), 16);
  const auto end = parse_number(range, 16);
  const std::string_view permissions = next_word(line, ' ');
  const auto offset = parse_number(next_word(line, ' '), 16);
  next_word(line, ' ');  // device
  const auto inode = parse_number(next_word(line, ' '));
  if (!start || !end || *end < *start || permissions.size() < 3 || !offset || !inode)
    return std::nullopt;
  const size_t name = line.find_first_not_of(' ');
  return MapLine{*start,  *end,   permissions[2] == 'x',
                 *offset, *inode, name == std::string_view::npos ? "" : line.substr(name)};
}

std::optional<uint32_t> parse_parent(std::string_view stat) {
  const size_t bracket = stat.rfind(')');
  if (bracket == std::string_view::npos || bracket + 2 > stat.size()) return std::nullopt;
  stat.remove_prefix(bracket + 2);
  next_word(stat, ' ');  // state
  const auto parent = parse_number(next_word(stat, ' '));
  if (!parent || *parent > UINT32_MAX) return std::nullopt;
  return static_cast<uint32_t>(*parent);
}

}  // namespace pi::perfutil
