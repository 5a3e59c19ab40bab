// SPDX-License-Identifier: MIT
// Finds the word that the user may have meant.
#include <pi/similar_word.h>

#include <algorithm>

namespace pi {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (const char letter : a) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (letter == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string similar_word(std::string_view word, const std::vector<std::string>& words) {
  const std::string* nearest = nullptr;
  size_t least = 0;
  for (const std::string& each : words) {
    const size_t distance = edit_distance(word, each);
    if (nearest && distance >= least) continue;
    nearest = &each;
    least = distance;
  }
  // In shorter words one wrong character in three would make all of them similar.
  return nearest && least <= std::max<size_t>(1, nearest->size() / 3) ? *nearest : std::string();
}

}  // namespace pi
