// SPDX-License-Identifier: MIT
// Text in cells of a terminal: a wide character takes two, a combining one none.
#ifndef POST_TOP_CELLS_H
#define POST_TOP_CELLS_H

#include <cstddef>
#include <string>
#include <string_view>

namespace post::top {

// The text made harmless (see printable()), and each character that the terminal cannot show as
// \xNN: without utf8 all that are not ASCII, otherwise those to which the C library gives no width.
std::string showable(std::string_view text, bool utf8);

// The functions below take showable text. The C library's widths depend on LC_CTYPE.
size_t cells_of(std::string_view text);

// The text's beginning, and the mark, where it takes more cells.
std::string cut_to(std::string_view text, size_t cells, std::string_view mark);

// The text with its middle replaced by the mark where it takes more cells: both ends stay.
std::string squeezed(std::string_view text, size_t cells, std::string_view mark);

// The text with blanks behind it, so that it takes that many cells at least.
std::string filled(std::string text, size_t cells);

}  // namespace post::top

#endif  // POST_TOP_CELLS_H
