// SPDX-License-Identifier: MIT
// Reads the small files in which /proc and /sys tell one value.
#ifndef PI_SWTRACE_SYSFILE_H
#define PI_SWTRACE_SYSFILE_H

#include <fstream>
#include <sstream>
#include <string>

namespace pi::swtrace {

// The first line; "" when the file is missing or not permitted.
inline std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

inline std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace pi::swtrace

#endif  // PI_SWTRACE_SYSFILE_H
