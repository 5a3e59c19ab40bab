// SPDX-License-Identifier: MIT
// Words of commands: text without blanks at its ends, and lists of words.
#ifndef PI_WORDS_H
#define PI_WORDS_H

#include <algorithm>
#include <string_view>

namespace pi {

// The text without blanks, tabs and line ends around it.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const size_t first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// Is the word in a list whose words are separated by blanks?
inline bool contains_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

}  // namespace pi

#endif  // PI_WORDS_H
