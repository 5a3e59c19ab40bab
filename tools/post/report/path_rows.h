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
  std::vector<std::string> names;  // of functions from the outermost, readable, no arguments
  uint64_t ticks = 0;
};

// At most so many, by ticks, then as they were first seen. A path without the functions that start
// a thread; the same path in several threads and processes is one.
std::vector<PathRow> make_path_rows(const CallTree& calls, const Summary& summary, size_t most,
                                    const CallTree::Wanted& wanted);

// The name as people write it: demangled, and without parameters.
std::string readable(const Summary& summary, NameId name);

}  // namespace post

#endif  // POST_PATH_ROWS_H
