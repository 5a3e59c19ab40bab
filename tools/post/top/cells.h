// SPDX-License-Identifier: MIT
// Text in cells of a terminal: a wide character takes two, a combining one none.
#ifndef POST_TOP_CELLS_H
#define POST_TOP_CELLS_H

#include <cstddef>
#include <string>
#include <string_view>

namespace post::top {

// Returns printable() text in which each character that the terminal cannot show is \xNN: without
// utf8 all that are not ASCII, otherwise those without a width in the C library.
std::string showable(std::string_view text, bool utf8);

// The functions below take showable text. The C library's widths depend on LC_CTYPE.
size_t cells_of(std::string_view text);

// Replaces the end of a text that takes more cells by the mark.
std::string cut_to(std::string_view text, size_t cells, std::string_view mark);

// Replaces the middle of a text that takes more cells by the mark; both ends are kept.
std::string squeezed(std::string_view text, size_t cells, std::string_view mark);

// Appends blanks, so that the text takes at least that many cells.
std::string filled(std::string text, size_t cells);

}  // namespace post::top

#endif  // POST_TOP_CELLS_H
