// SPDX-License-Identifier: MIT
// Formats the page's texts for one kind of terminal.
#ifndef POST_PAGE_FORMAT_H
#define POST_PAGE_FORMAT_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "summary.h"

namespace post {

// How the page is shown.
struct PageStyle {
  size_t width = 80;                // columns
  std::optional<size_t> rows = {};  // of functions; none: as many as fit on a screen of 24 lines
  bool colour = false;
  bool utf8 = false;
};

constexpr uint64_t enough_ticks = 100;  // minimum to show tenths of a percent

// A percentage in five columns; with tenths from enough_ticks on.
std::string share_of(uint64_t part, uint64_t whole);

// "59.0 %"
std::string share_word(uint64_t part, uint64_t whole);

// Whether options select a part of the trace's ticks.
bool is_selection(const Summary& summary);

class PageFormat {
 public:
  explicit PageFormat(const PageStyle& style) : style_(style) {}

  size_t width() const { return style_.width; }
  std::string mark() const { return style_.utf8 ? "…" : "..."; }
  std::string plus_minus() const { return style_.utf8 ? "±" : "+-"; }
  std::string shown(const std::string& text) const;
  // style: an ANSI colour; nothing where there are no colours.
  std::string styled(const std::string& text, const char* style) const;
  // The name, shortened so that the text after it fits into the line.
  std::string limited(const std::string& name) const;
  // The name of the ticks' event.
  std::string event(const Summary& summary) const;
  // A paragraph as lines, the second and later ones indented; style: of each.
  std::vector<std::string> paragraph(const std::string& text, const char* style = nullptr) const;
  // The further lines that a terminal needs for a line that is too long for one.
  size_t wraps(const std::string& line) const;

 private:
  PageStyle style_;
};

}  // namespace post

#endif  // POST_PAGE_FORMAT_H
