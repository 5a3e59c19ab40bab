// SPDX-License-Identifier: MIT
// The call paths of a log by the names of their functions.
#include "call_paths.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "names.h"

namespace heapstats {
namespace {

using namespace pi::heap_log;

class Builder {
 public:
  Builder(const HeapFile& file, bool by_function)
      : file_(file), names_(file), by_function_(by_function) {}

  CallPaths build() {
    for (const StoredPath& path : file_.paths)
      if (path.number[0] != 0) add(path, row_of(path));
    if (file_.search != searched)
      for (Row& row : paths_.rows)
        row.leaked = row.leaked_bytes = row.inside = row.inside_bytes = 0;
    return std::move(paths_);
  }

 private:
  Row& row_of(const StoredPath& path) {
    std::vector<uint32_t> functions;
    for (const uint64_t address : file_.callers(path)) {
      functions.push_back(function_of(address - 1, path.mappings));
      if (by_function_) break;
    }
    // The end of a stack is no matter of its innermost function.
    const PathEnd end = by_function_ && path.end != not_stored ? whole : path.end;
    const auto [known, is_new] = rows_.try_emplace({path.kind, end, functions}, paths_.rows.size());
    if (is_new) paths_.rows.push_back({path.kind, end, std::move(functions)});
    return paths_.rows[known->second];
  }

  uint32_t function_of(uint64_t address, size_t mappings) {
    const auto [known, is_new] = functions_.try_emplace(
        names_.of(address, mappings), static_cast<uint32_t>(paths_.functions.size()));
    if (is_new) paths_.functions.push_back(known->first);
    return known->second;
  }

  static void add(const StoredPath& path, Row& row) {
    const auto& number = path.number;
    if (path.kind == allocation) {
      row.allocations += number[allocations];
      row.bytes += number[bytes];
      row.frees += std::min(number[frees], number[allocations]);
      row.live_bytes += number[live_bytes];
      row.peak_bytes += number[peak_bytes];
      // What is freed after the search is neither.
      const uint64_t live = number[allocations] - std::min(number[frees], number[allocations]);
      row.leaked += std::min(number[leaked_blocks], live);
      row.leaked_bytes += std::min(number[leaked_bytes], number[live_bytes]);
      row.inside += std::min(number[inside_blocks], live);
      row.inside_bytes += std::min(number[inside_bytes], number[live_bytes]);
    } else {
      row.waits += number[waits];
      row.nanoseconds += number[nanoseconds];
      row.longest = std::max(row.longest, number[longest]);
    }
  }

  const HeapFile& file_;
  Names names_;
  const bool by_function_;
  CallPaths paths_;
  std::map<std::tuple<Kind, PathEnd, std::vector<uint32_t>>, size_t> rows_;
  std::map<Function, uint32_t> functions_;
};

}  // namespace

CallPaths call_paths(const HeapFile& file, bool by_function) {
  return Builder(file, by_function).build();
}

}  // namespace heapstats
