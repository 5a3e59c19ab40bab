// SPDX-License-Identifier: MIT
// Text for people: wraps sentences, formats and parses numbers.
#ifndef POST_TEXT_H
#define POST_TEXT_H

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <pi/printable.h>

namespace post {

using pi::printable;

// "LEAD text text\n     text\n": lines of at most width columns where words allow it, continued
// below the text's first column.
std::string wrapped(std::string_view lead, std::string_view text, size_t width = 78);

// " Lead : text", wrapped: the form of sentences in reports.
std::string sentence(std::string_view lead, std::string_view text);

// The line above and below a report's title.
constexpr std::string_view banner = "    ================================\n";

// A time in nanoseconds for people, in three digits or so: "213 ms", "5.21 s", "3 min 12 s",
// "1 h 03 min".
std::string duration_text(uint64_t nanoseconds);

// Calls use(line) for each line, without its line feed, which the last may lack.
template <class Use>
void for_each_line(std::string_view text, Use use) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    use(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Parses a percentage from 0 to 100; the whole text must be the number.
std::optional<double> percent_from(std::string_view text);

// Parses a decimal number; the whole text must be the number. False leaves value unchanged.
bool parse_number(std::string_view text, uint64_t& value);

}  // namespace post

#endif  // POST_TEXT_H
