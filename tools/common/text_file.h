// SPDX-License-Identifier: MIT
// Reads small text files that users write: limits, definitions of further reports.
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
// The same for an open file, from its beginning; name: its name in messages.
Result<std::string> read_text_file(int fd, const std::string& name, size_t max_bytes);

// More than any file that a person writes by hand.
constexpr size_t written_by_hand = 1 << 20;

// A line that is not empty and no comment, without blanks at its ends. A # at a line's beginning or
// after a blank begins a comment; elsewhere it can be part of a name.
struct TextLine {
  size_t number = 0;  // from 1
  std::string_view text;
};

// The views stay valid as long as the text.
std::vector<TextLine> meaningful_lines(std::string_view text);

}  // namespace pi

#endif  // PI_TOOLS_COMMON_TEXT_FILE_H
