// SPDX-License-Identifier: MIT
// Parses /proc/stat: the time of each CPU so far.
#include "proc_stat.h"

#include <array>

#include "system/text.h"

namespace pi::perfutil {
namespace {

// The columns after the name; later columns are parts of these. Kernels may have fewer.
enum Column { user, nice, system, idle, io_wait, irq, soft_irq, steal, columns };

bool parse_columns(std::string_view line, std::array<uint64_t, columns>& values) {
  values = {};
  int column = 0;
  while (!line.empty() && column < columns) {
    const auto value = parse_number(next_word(line, ' '));
    if (!value) return false;
    values[static_cast<size_t>(column++)] = *value;
  }
  return column > idle;
}

}  // namespace

std::map<uint32_t, CpuTimes> parse_proc_stat(std::string_view text) {
  constexpr std::string_view prefix = "cpu";
  constexpr uint64_t max_cpus = 1 << 16;
  std::map<uint32_t, CpuTimes> cpus;
  while (!text.empty()) {
    std::string_view line = next_word(text, '\n');
    if (!line.starts_with(prefix)) continue;
    line.remove_prefix(prefix.size());
    const auto number = parse_number(next_word(line, ' '));  // the sum of all has none
    std::array<uint64_t, columns> value;
    if (!number || *number >= max_cpus || !parse_columns(line, value)) continue;
    cpus[static_cast<uint32_t>(*number)] = {
        value[idle] + value[io_wait], value[irq] + value[soft_irq],
        value[user] + value[nice] + value[system] + value[steal]};
  }
  return cpus;
}

}  // namespace pi::perfutil
