// SPDX-License-Identifier: MIT
// Formats the page's texts for one kind of terminal.
#include "page_format.h"

#include <fmt/format.h>

#include <algorithm>

#include "path_rows.h"
#include "text/columns.h"
#include "text/labels.h"
#include "text/short_name.h"
#include "text/text.h"

namespace post {

std::string share_of(uint64_t part, uint64_t whole) {
  return whole < enough_ticks ? fmt::format("{:5.0f}", percent(part, whole))
                              : share_text(part, whole);
}

std::string share_word(uint64_t part, uint64_t whole) {
  const std::string text = share_of(part, whole);
  return text.substr(text.find_first_not_of(' ')) + " %";
}

bool is_selection(const Summary& summary) {
  return !selection_texts(summary.options.selection).empty();
}

std::string PageFormat::shown(const std::string& text) const {
  return style_.utf8 ? text : ascii_text(text);
}

std::string PageFormat::styled(const std::string& text, const char* style) const {
  return style_.colour ? fmt::format("\033[{}m{}\033[0m", style, text) : text;
}

std::string PageFormat::limited(const std::string& name) const {
  return shortened(shown(name), std::max<size_t>(style_.width / 2, 10), mark());
}

std::string PageFormat::event(const Summary& summary) const {
  return limited(event_name(summary));
}

std::vector<std::string> PageFormat::paragraph(const std::string& text, const char* style) const {
  std::vector<std::string> lines = paragraph_lines(text, style_.width);
  if (style)
    for (std::string& each : lines) each = styled(each, style);
  return lines;
}

size_t PageFormat::wraps(const std::string& line) const {
  return (std::max<size_t>(columns_of(line), 1) - 1) / std::max<size_t>(style_.width, 1);
}

}  // namespace post
