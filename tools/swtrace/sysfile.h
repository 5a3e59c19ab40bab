// SPDX-License-Identifier: MIT
// Reads small files of /proc and /sys that contain one value each.
#ifndef PI_SWTRACE_SYSFILE_H
#define PI_SWTRACE_SYSFILE_H

#include <string>

#include <pi/files.h>

namespace pi::swtrace {

// "" when the file is missing or not permitted.
inline std::string read_all(const std::string& path) {
  constexpr size_t limit = size_t{64} << 20;
  const auto text = read_system_file(path, limit);
  return text ? *text : "";
}

// The first line.
inline std::string read_line(const std::string& path) {
  const std::string text = read_all(path);
  return text.substr(0, text.find('\n'));
}

}  // namespace pi::swtrace

#endif  // PI_SWTRACE_SYSFILE_H
