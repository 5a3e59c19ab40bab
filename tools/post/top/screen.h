// SPDX-License-Identifier: MIT
// The browser's screen as lines of text, for a terminal of any size.
#ifndef POST_TOP_SCREEN_H
#define POST_TOP_SCREEN_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "browser.h"

namespace post::top {

enum class Style : uint8_t { plain, bar, head, hot, cursor, dim, warning };

struct Span {
  std::string text;
  Style style = Style::plain;
};

struct Screen {
  std::vector<std::vector<Span>> lines;  // within the requested height and width
  std::optional<size_t> caret;           // column in the last line where a word is being typed

  // One line's text, and that of all lines.
  std::string line(size_t number) const;
  std::string text() const;
};

// On a smaller terminal draw() shows only a message.
constexpr size_t least_width = 40;
constexpr size_t least_height = 8;

// How many rows of a view fit on a screen of that height.
size_t rows_of(size_t height);

// trace: the file's path. progress: the current activity, shown in place of the keys; may be empty.
Screen draw(const Browser& browser, const std::string& trace, size_t width, size_t height,
            const std::string& progress = {});

}  // namespace post::top

#endif  // POST_TOP_SCREEN_H
