// SPDX-License-Identifier: MIT
// Facts about this process from /proc.
#include "proc_text.h"

#include <sys/stat.h>

#include <algorithm>
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

}  // namespace pi::jprof
