// SPDX-License-Identifier: MIT
// Finds the word that the user may have meant. Implemented in libpi.
#ifndef PI_SIMILAR_WORD_H
#define PI_SIMILAR_WORD_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pi {

// How many characters must be added, removed or replaced to make b of a (Levenshtein distance).
// Takes time and memory of a.size() times b.size(), and of b.size().
size_t edit_distance(std::string_view a, std::string_view b);

// The nearest of the words, of those with equal distance the first. Empty if more than one
// character of three differs, so that the words are unlikely to be meant.
std::string similar_word(std::string_view word, const std::vector<std::string>& words);

}  // namespace pi

#endif  // PI_SIMILAR_WORD_H
