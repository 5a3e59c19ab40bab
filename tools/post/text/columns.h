// SPDX-License-Identifier: MIT
// Measures, shortens, pads and wraps text for the columns of a terminal.
#ifndef POST_COLUMNS_H
#define POST_COLUMNS_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace post {

// How many columns a printable text takes: one for each character.
size_t columns_of(std::string_view text);

// Replaces the middle of a text that is wider than columns by `mark`; both ends are kept. If there
// is no space for the mark, returns the text's beginning.
std::string shortened(std::string_view text, size_t columns, std::string_view mark);

// Replaces the end of a text that is wider than columns by `mark`.
std::string cut_text(std::string_view text, size_t columns, std::string_view mark);

// Appends blanks, so that the text takes at least that many columns.
std::string padded(std::string text, size_t columns);

// Splits the text into lines of at most width columns if words allow it; the second and later ones
// are indented.
std::vector<std::string> paragraph_lines(const std::string& text, size_t width);

// Writes each character that is not ASCII as \xNN, for terminals that cannot show it.
std::string ascii_text(std::string_view text);

}  // namespace post

#endif  // POST_COLUMNS_H
