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
  void clear();
  // file: that of a mapping.
  void add(const pi_process_change& change, std::shared_ptr<TableFile> file);
  // Applies the changes up to this time, in the order of their times.
  void advance(uint64_t time);
  // Null: no executable memory is known there.
  const Mapping* find(uint32_t pid, uint64_t address) const;

 private:
  using Maps = std::map<uint64_t, Mapping>;  // by address; they do not overlap

  struct Change {
    int kind;
    uint32_t pid, parent;
    uint64_t address;
    Mapping mapping;
  };
  void apply(Change change);
  static void put(Maps& maps, uint64_t begin, Mapping mapping);

  // A child shares its parent's until one of them changes.
  std::unordered_map<uint32_t, std::shared_ptr<Maps>> processes_;
  std::multimap<uint64_t, Change> changes_;  // by time
};

}  // namespace pi::swtrace

#endif  // SWTRACE_PROCESS_MAPS_H
