// SPDX-License-Identifier: MIT
// When a process started.
#include <pi/process_start.h>

#include <unistd.h>

#include <charconv>
#include <cstddef>

#include <pi/files.h>

namespace pi {

// The name, the second field, may contain blanks and brackets; the fields after the last bracket
// are numbered from 3.
std::optional<uint64_t> start_ticks(std::string_view stat) {
  constexpr int wanted = 22;
  size_t at = stat.rfind(')');
  for (int field = 2; field < wanted; ++field) {
    if (at == std::string_view::npos) return std::nullopt;
    at = stat.find(' ', at + 1);
  }
  if (at == std::string_view::npos) return std::nullopt;
  uint64_t ticks = 0;
  const auto [end, error] = std::from_chars(stat.data() + at + 1, stat.data() + stat.size(), ticks);
  return error == std::errc{} ? std::optional(ticks) : std::nullopt;
}

std::optional<uint64_t> started_since_boot(const std::string& process) {
  constexpr size_t longest = 4096;
  const auto stat = read_system_file("/proc/" + process + "/stat", longest);
  const auto ticks = stat ? start_ticks(*stat) : std::nullopt;
  const long per_second = ::sysconf(_SC_CLK_TCK);
  if (!ticks || per_second <= 0) return std::nullopt;
  return *ticks * (1'000'000'000 / static_cast<uint64_t>(per_second));
}

}  // namespace pi
