// SPDX-License-Identifier: MIT
// The call paths of a log by the names of their functions.
#ifndef HEAPSTATS_CALL_PATHS_H
#define HEAPSTATS_CALL_PATHS_H

#include <cstdint>
#include <string>
#include <vector>

#include "heap_file.h"

namespace heapstats {

// A function, or what is known about code without a name.
struct Function {
  std::string name;    // printable
  std::string module;  // the last component of its path, printable; empty: not known
  bool operator==(const Function&) const = default;
  auto operator<=>(const Function&) const = default;
};

// The sum of all paths through the same functions.
struct Row {
  pi::heap_log::Kind kind;
  pi::heap_log::PathEnd end;
  std::vector<uint32_t> functions;  // indices of CallPaths::functions, innermost first
  uint64_t allocations = 0, bytes = 0, frees = 0, live_bytes = 0;
  // Of one path it is exact. Where a row is the sum of several, each may have had its peak at
  // another time: the sum is an upper bound.
  uint64_t peak_bytes = 0;
  // Of the live ones: what nothing refers to, and what only pointers into its middle refer to. Both
  // are 0 if it was not searched for.
  uint64_t leaked = 0, leaked_bytes = 0, inside = 0, inside_bytes = 0;
  uint64_t waits = 0, nanoseconds = 0, longest = 0;

  uint64_t live() const { return allocations - frees; }
};

struct CallPaths {
  std::vector<Function> functions;
  std::vector<Row> rows;
};

// by_function: the innermost function alone, that is the caller of the allocation.
CallPaths call_paths(const HeapFile& file, bool by_function);

}  // namespace heapstats

#endif  // HEAPSTATS_CALL_PATHS_H
