// SPDX-License-Identifier: MIT
// Lists of CPUs on command lines.
#include "cpu_list.h"

#include <charconv>
#include <set>

namespace pi::cli {
namespace {

constexpr int max_cpus = 1 << 16;

// Removes a number from the front.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || number >= max_cpus) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

}  // namespace

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::set<int> cpus;
  for (;;) {
    const auto first = take_number(text);
    auto last = first;
    if (first && text.starts_with('-')) {
      text.remove_prefix(1);
      last = take_number(text);
    }
    if (!first || !last || *last < *first) return std::nullopt;
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.insert(cpu);
    if (text.empty()) return std::vector<int>(cpus.begin(), cpus.end());
    if (!text.starts_with(',')) return std::nullopt;
    text.remove_prefix(1);
  }
}

}  // namespace pi::cli
