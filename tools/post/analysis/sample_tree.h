// SPDX-License-Identifier: MIT
// Counts ticks by process, thread, module, symbol (and offset).
#ifndef POST_SAMPLE_TREE_H
#define POST_SAMPLE_TREE_H

#include <array>
#include <cstdint>
#include <vector>

#include "state/processes.h"
#include "state/symbolizer.h"
#include "text/string_table.h"

namespace post {

enum class Level : uint8_t { process, thread, module, symbol, offset };
constexpr size_t levels = 5;

// One value a level; names are numbers of a StringTable, the offset is the number of bytes.
using Path = std::array<uint64_t, levels>;

// The thread of the ticks, and whether they fell on kernel code. Names do not identify a thread:
// ids are reused, and labels can omit them.
struct Origin {
  const ProcessLifetime* process = nullptr;  // nullptr: no record describes it
  uint32_t pid = 0;
  uint32_t tid = 0;
  bool kernel = false;
  bool operator==(const Origin&) const = default;
};

struct Leaf {
  Path path{};
  Found found = Found::no_module;
  Origin origin = {};
  uint64_t ticks = 0;
};

// All distinct paths of each origin. The number of one never changes; memory grows with them only.
class SampleTree {
 public:
  SampleTree();

  // The number of a path, added when it is new. The same names found in another way, or with
  // another origin, are another path.
  uint32_t place(const Path& path, Found found, const Origin& origin = {});
  void add_ticks(uint32_t place, uint64_t ticks) { leaves_[place].ticks += ticks; }

  const std::vector<Leaf>& leaves() const { return leaves_; }

 private:
  size_t slot_of(const Path& path, Found found, const Origin& origin) const;
  void grow();

  std::vector<Leaf> leaves_;
  std::vector<uint32_t> slots_;  // open addressing; place + 1, or 0
};

}  // namespace post

#endif  // POST_SAMPLE_TREE_H
