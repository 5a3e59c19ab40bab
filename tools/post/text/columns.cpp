// SPDX-License-Identifier: MIT
// Measures, shortens, pads and wraps text for the columns of a terminal.
#include "columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>

namespace post {
namespace {

bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}

// The byte at which the character with that number begins; the text's size after the last one.
size_t byte_of(std::string_view text, size_t character) {
  for (size_t at = 0; at < text.size(); ++at)
    if (begins_character(text[at]) && character-- == 0) return at;
  return text.size();
}

}  // namespace

size_t columns_of(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, begins_character));
}

std::string shortened(std::string_view text, size_t columns, std::string_view mark) {
  const size_t width = columns_of(text);
  if (width <= columns) return std::string(text);
  const size_t marked = columns_of(mark);
  if (columns <= marked) return std::string(text.substr(0, byte_of(text, columns)));
  const size_t kept = columns - marked;
  const size_t head = (kept + 1) / 2;
  return std::string(text.substr(0, byte_of(text, head))) + std::string(mark) +
         std::string(text.substr(byte_of(text, width - (kept - head))));
}

std::string cut_text(std::string_view text, size_t columns, std::string_view mark) {
  if (columns_of(text) <= columns) return std::string(text);
  const size_t marked = columns_of(mark);
  if (columns <= marked) return std::string(text.substr(0, byte_of(text, columns)));
  return std::string(text.substr(0, byte_of(text, columns - marked))) + std::string(mark);
}

std::string padded(std::string text, size_t columns) {
  const size_t width = columns_of(text);
  if (width < columns) text.append(columns - width, ' ');
  return text;
}

std::vector<std::string> paragraph_lines(const std::string& text, size_t width) {
  std::vector<std::string> lines;
  std::string line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!line.empty() && columns_of(line) + 1 + columns_of(word) > width) {
      lines.push_back(std::move(line));
      line = " ";
    }
    line += (line.empty() ? "" : " ") + word;
  }
  lines.push_back(std::move(line));
  return lines;
}

std::string ascii_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x80)
      out += c;
    else
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace post
