// SPDX-License-Identifier: MIT
// Counts this process's open descriptors.
#ifndef PI_TESTS_OPEN_DESCRIPTORS_H
#define PI_TESTS_OPEN_DESCRIPTORS_H

#include <filesystem>
#include <string>

namespace pi::test {

// Of files whose path begins so.
inline size_t open_descriptors(const std::string& path = "") {
  size_t count = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    if (std::filesystem::read_symlink(entry, ignored).string().starts_with(path)) ++count;
  return count;
}

}  // namespace pi::test

#endif  // PI_TESTS_OPEN_DESCRIPTORS_H
