// SPDX-License-Identifier: MIT
// What was mapped where in each process, at the time of a tick.
#ifndef SWTRACE_PROCESS_MAPS_H
#define SWTRACE_PROCESS_MAPS_H

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>

#include "perfutil.h"

namespace pi::swtrace {

class TableFile;

// Executable memory.
struct Mapping {
  uint64_t end;
  uint64_t bias;                    // address minus offset in the file
  std::shared_ptr<TableFile> file;  // null: memory without one
};

// Not thread-safe. Changes are applied when a time is reached, since they may come early.
class ProcessMaps {
 public:
  // Programs can map without end, and perf does not report where memory is unmapped.
  struct Limits {
    size_t changes = 1 << 17;             // that wait for their time
    size_t mappings = 1 << 20;            // of all processes
    size_t mappings_a_process = 1 << 16;  // the kernel's own limit is about that
  };
  ProcessMaps() : ProcessMaps(Limits{}) {}
  explicit ProcessMaps(const Limits& limits) : limits_(limits) {}

  void clear();
  // file: that of a mapping.
  void add(const pi_process_change& change, std::shared_ptr<TableFile> file);
  // Applies the changes up to this time, in the order of their times.
  void advance(uint64_t time);
  // Null: no executable memory is known there.
  const Mapping* find(uint32_t pid, uint64_t address) const;
  // Mappings that are not known because of the limits.
  uint64_t refused() const { return refused_; }

 private:
  using Maps = std::map<uint64_t, Mapping>;  // by address; they do not overlap
  using SharedMaps = std::shared_ptr<Maps>;

  struct Change {
    int kind;
    uint32_t pid, parent;
    uint64_t address;
    Mapping mapping;
  };
  void apply(Change change);
  void replace(SharedMaps& maps, SharedMaps by);
  bool own(SharedMaps& maps);
  void map(Maps& maps, uint64_t begin, Mapping mapping);
  bool is_over(const Maps& maps) const;
  static void put(Maps& maps, uint64_t begin, Mapping mapping);

  const Limits limits_;
  // A child shares its parent's until one of them changes.
  std::unordered_map<uint32_t, SharedMaps> processes_;
  size_t mappings_ = 0;  // of all processes; shared ones count once
  uint64_t refused_ = 0;
  std::multimap<uint64_t, Change> changes_;  // by time
};

}  // namespace pi::swtrace

#endif  // SWTRACE_PROCESS_MAPS_H
