// SPDX-License-Identifier: MIT
// Bounds names, so that a small trace of a program with extreme names makes no huge reports.
#ifndef POST_TEXT_NAME_LIMIT_H
#define POST_TEXT_NAME_LIMIT_H

#include <cstddef>
#include <string>
#include <string_view>

namespace post {

constexpr size_t longest_name = 1024;  // bytes

// A longer name becomes its beginning, "~" and 16 hexadecimal digits that depend on all of it:
// longest_name bytes or up to three fewer, since no character of UTF-8 is divided. Others stay as
// they are.
std::string limited_name(std::string_view name);

}  // namespace post

#endif  // POST_TEXT_NAME_LIMIT_H
