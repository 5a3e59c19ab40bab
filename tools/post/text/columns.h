// SPDX-License-Identifier: MIT
// Text in columns of a terminal: how wide it is, and made to fit.
#ifndef POST_COLUMNS_H
#define POST_COLUMNS_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace post {

// How many columns a printable text takes: one for each character.
size_t columns_of(std::string_view text);

// The text, with its middle replaced by `mark` where it is wider than that: both ends stay. Where
// there is not even space for the mark, the text's beginning.
std::string shortened(std::string_view text, size_t columns, std::string_view mark);

// The text's beginning, and the mark, where it is wider than that.
std::string cut_text(std::string_view text, size_t columns, std::string_view mark);

// The text with blanks behind it, so that it takes that many columns at least.
std::string padded(std::string text, size_t columns);

// The text as lines of at most so many columns where words allow it; the second and later ones are
// indented.
std::vector<std::string> paragraph_lines(const std::string& text, size_t width);

// The text with each character that is not ASCII as \xNN, for terminals that cannot show it.
std::string ascii_text(std::string_view text);

}  // namespace post

#endif  // POST_COLUMNS_H
