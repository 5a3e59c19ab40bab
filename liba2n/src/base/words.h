// SPDX-License-Identifier: MIT
// Splits a line into words and converts words to numbers.
#ifndef A2N_WORDS_H
#define A2N_WORDS_H

#include <charconv>
#include <cstdint>
#include <string_view>

namespace a2n {

// Removes the first word and the separator after it from line, and returns the word; empty at the
// end.
inline std::string_view take_word(std::string_view& line, char separator = ' ') {
  const size_t end = line.find(separator);
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  return word;
}

// Converts a word to a number; false unless the whole word is a number that fits.
template <class Number>
bool to_number(std::string_view word, Number& out, int base) {
  const char* const end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, out, base);
  return error == std::errc() && rest == end && !word.empty();
}

}  // namespace a2n

#endif  // A2N_WORDS_H
