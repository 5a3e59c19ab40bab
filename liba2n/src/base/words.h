// SPDX-License-Identifier: MIT
// Words and numbers of a line.
#ifndef A2N_WORDS_H
#define A2N_WORDS_H

#include <charconv>
#include <cstdint>
#include <string_view>

namespace a2n {

// Takes the first word off a line, with the one blank behind it; empty at the end.
inline std::string_view take_word(std::string_view& line, char separator = ' ') {
  const size_t end = line.find(separator);
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  return word;
}

// The whole word is a number.
template <class Number>
bool to_number(std::string_view word, Number& out, int base) {
  const char* const end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, out, base);
  return error == std::errc() && rest == end && !word.empty();
}

}  // namespace a2n

#endif  // A2N_WORDS_H
