// SPDX-License-Identifier: MIT
// Facts about this process from /proc.
#include "proc_text.h"

#include <sys/stat.h>

#include <charconv>
#include <cstdint>
#include <utility>

#include <pi/files.h>

namespace pi::jprof {

std::optional<std::string> read_proc(const char* path) {
  auto text = read_system_file(path, SIZE_MAX);
  if (!text) return std::nullopt;
  return std::move(*text);
}

std::string_view next_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

uint64_t namespace_inode(const char* link) {
  struct stat facts {};
  return ::stat(link, &facts) == 0 ? facts.st_ino : 0;
}

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

}  // namespace pi::jprof
