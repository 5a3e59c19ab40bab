// SPDX-License-Identifier: MIT
// Parses a selection of processes.
#include "pid_ranges.h"

#include <charconv>
#include <cstdint>
#include <string_view>

namespace pi::swtrace {
namespace {

std::optional<int> parse_pid(std::string_view text) {
  int pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc() || end != text.data() + text.size() || pid < 1) return std::nullopt;
  return pid;
}

std::optional<PidRange> parse_range(std::string_view text) {
  const size_t dash = text.find('-');
  const auto first = parse_pid(text.substr(0, dash));
  if (!first) return std::nullopt;
  if (dash == std::string_view::npos) return PidRange{*first, *first};
  if (dash + 1 == text.size()) return PidRange{*first, INT32_MAX};
  const auto last = parse_pid(text.substr(dash + 1));
  if (!last || *last < *first) return std::nullopt;
  return PidRange{*first, *last};
}

}  // namespace

std::optional<std::vector<PidRange>> parse_pid_ranges(const std::string& text) {
  if (text == "all") return std::vector<PidRange>{{0, INT32_MAX}};
  std::vector<PidRange> ranges;
  std::string_view rest = text;
  for (;;) {
    const size_t comma = rest.find(',');
    const auto range = parse_range(rest.substr(0, comma));
    if (!range) return std::nullopt;
    ranges.push_back(*range);
    if (comma == std::string_view::npos) return ranges;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace pi::swtrace
