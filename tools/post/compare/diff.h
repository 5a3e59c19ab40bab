// SPDX-License-Identifier: MIT
// Compares two profiles; marks changes that may be noise.
#ifndef POST_DIFF_H
#define POST_DIFF_H

#include <cstdint>
#include <string>
#include <vector>

#include "profile.h"

namespace post {

enum class Verdict : uint8_t {
  more,  // a larger share of the ticks than before
  less,
  noise,  // chance alone can cause this difference
};

struct DiffRow {
  std::string name;
  std::string module;  // of a symbol
  uint64_t a = 0;      // ticks
  uint64_t b = 0;
  double change = 0;  // of the share, in percentage points
  double sigmas = 0;  // see significance.h
  Verdict verdict = Verdict::noise;
};

struct DiffTable {
  const char* title;  // "Process"
  // Those beyond chance first; both parts by the size of the change, then name.
  std::vector<DiffRow> rows;
};

// Refers to the two profiles.
struct Diff {
  const Profile& a;
  const Profile& b;
  double clip_percent = 0;         // rows below it in both are omitted
  double noise_limit = 0;          // in sigmas; holds for all rows of all tables together
  double rate_sigmas = 0;          // of all ticks a second; 0 when these cannot be compared
  std::vector<std::string> notes;  // limits of the comparison of these two
  std::vector<DiffTable> tables;   // Process, Module, Symbol
};

// Returns why two profiles cannot be compared (their ticks count different events); "" if they can.
std::string incomparable(const Profile& a, const Profile& b);

Diff compare(const Profile& a, const Profile& b, double clip_percent);

}  // namespace post

#endif  // POST_DIFF_H
