// SPDX-License-Identifier: MIT
// Makes the rows of the page's call paths, by ticks.
#ifndef POST_PATH_ROWS_H
#define POST_PATH_ROWS_H

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/call_tree.h"
#include "summary.h"

namespace post {

struct PathRow {
  std::vector<std::string> names;  // readable, without parameters; outermost function first
  std::vector<bool> guessed;       // the same: it is a guess
  uint64_t ticks = 0;
};

// Returns at most `most` paths, by ticks, then by first occurrence. Paths begin after the functions
// that start a thread; equal paths of several threads and processes are one row.
std::vector<PathRow> make_path_rows(const CallTree& calls, const Summary& summary, size_t most,
                                    const CallTree::Wanted& wanted);

// The name demangled and without parameters.
std::string readable(const Summary& summary, NameId name);

}  // namespace post

#endif  // POST_PATH_ROWS_H
