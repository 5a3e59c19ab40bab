// SPDX-License-Identifier: MIT
// Minima of sequences by metric: observed ones, which earlier recordings have stored, and
// environmental ones.
//
// The file: lines of text; '#' begins a comment line, the first of which is the format's name:
//   # pitrace call-flow minima 1
//   key KEY
//   METRIC BEFORE FIRST RUNNING SECOND AFTER MINIMUM COUNT
// KEY, to the end of the line, says of which machine, and of which JVM with which options, the
// minima are; without it they are of any. Types are the
// letters of letter_of(), transitions En, Ex and XX (exit by exception). COUNT is the number of
// differences that were observed; environmental minima have 0.
#ifndef PI_CALLFLOW_MINIMA_H
#define PI_CALLFLOW_MINIMA_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <pi/result.h>

#include "types.h"

namespace pi::callflow {

// After so many observations a sequence's minimum counts as known.
constexpr uint64_t settled_after = 32;

struct Minimum {
  uint64_t value = 0;
  uint64_t count = 0;
};

// By the metric's name and the sequence's index.
struct Minima {
  std::string key;
  std::map<std::pair<std::string, size_t>, Minimum> values;
  std::set<size_t> impossible = {};  // sequences that cannot occur; values has none of them

  // Null if there is none.
  const Minimum* find(const std::string& metric, size_t sequence) const;

  // Of the sequence, or else the smallest of those that differ from it in the type before, or else
  // of those that also differ in the type after: what a method executes between two events depends
  // little on them. Null if there is none.
  const Minimum* find_similar(const std::string& metric, size_t sequence) const;
};

// As in the file: "J En j Ex J".
std::string name_of(const Sequence& sequence);

// "En", "Ex", "XX".
std::string_view word_of(Transition transition);

// Parses the text of a file. EINVAL, with the number of the line.
pi::Result<Minima> parse_minima(std::string_view text);
std::string minima_text(const Minima& minima);

// Reads a file. The error's code is an error number.
pi::Result<Minima> read_minima(const std::string& path);

// The same; minima of another key are left out, as those of sequences that cannot occur.
struct LoadedMinima {
  Minima minima;
  std::string note;  // what is left out, and why
};
pi::Result<LoadedMinima> load_minima(const std::string& path, const std::string& key);

// The processor's name: the part of a key that the engine itself knows.
std::string processor_name();

}  // namespace pi::callflow

#endif  // PI_CALLFLOW_MINIMA_H
