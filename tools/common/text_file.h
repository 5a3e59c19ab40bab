// SPDX-License-Identifier: MIT
// Small text files that users write: limits, further reports.
#ifndef PI_TOOLS_COMMON_TEXT_FILE_H
#define PI_TOOLS_COMMON_TEXT_FILE_H

#include <pi/result.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pi {

// The bytes of a regular file of at most max_bytes.
Result<std::string> read_text_file(const std::string& path, size_t max_bytes);
// The same of an open file, from its beginning; name: what messages call it.
Result<std::string> read_text_file(int fd, const std::string& name, size_t max_bytes);

// Room for any file that a person would write.
constexpr size_t written_by_hand = 1 << 20;

// A line that says something, without blanks at its ends. A # at a line's beginning or behind a
// blank begins a comment: elsewhere it can belong to a name.
struct TextLine {
  size_t number = 0;  // from 1
  std::string_view text;
};

// The views stay valid as long as the text.
std::vector<TextLine> meaningful_lines(std::string_view text);

}  // namespace pi

#endif  // PI_TOOLS_COMMON_TEXT_FILE_H
