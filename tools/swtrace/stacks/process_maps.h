// SPDX-License-Identifier: MIT
// What was mapped where in each process, at the time of a tick.
#ifndef SWTRACE_PROCESS_MAPS_H
#define SWTRACE_PROCESS_MAPS_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "perfutil.h"

namespace pi::swtrace {

class TableFile;

// Executable memory.
struct Mapping {
  uint64_t end;
  uint64_t bias;                    // address minus offset in the file
  std::shared_ptr<TableFile> file;  // null: memory without one
};

// The executable memory of one process. A copy shares its parts with the original until one of the
// two changes: processes that share memory can change theirs in turn at little cost to them.
class ProcessMap {
 public:
  // all: the mappings of all processes; shared ones count once.
  explicit ProcessMap(std::shared_ptr<size_t> all) : all_(std::move(all)) {}
  ProcessMap(const ProcessMap& other);
  ProcessMap& operator=(const ProcessMap&) = delete;

  // Null: no executable memory is known there.
  const Mapping* find(uint64_t address) const;
  // The first mapping with this property, or null.
  template <class Test>
  const Mapping* find_if(Test test) const {
    for (const auto& part : parts_)
      for (const auto& [begin, mapping] : part->by_address)
        if (test(mapping)) return &mapping;
    return nullptr;
  }
  // The files that were mapped since the last call, up to a limit.
  std::vector<std::shared_ptr<TableFile>> take_new_files() const;
  // The mapping of the file with the process's runtime, which the caller searches; null: there is
  // none. Nothing: the files have changed since it was kept.
  std::optional<const Mapping*> runtime() const;
  void keep_runtime(const Mapping* mapping) const;

 private:
  friend class ProcessMaps;
  using Entries = std::map<uint64_t, Mapping>;  // by address; they do not overlap
  // Neighbours; never empty.
  struct Part {
    Part(std::shared_ptr<size_t> all, Entries entries);
    Part(const Part& other) : Part(other.all, other.by_address) {}
    Part& operator=(const Part&) = delete;
    ~Part() { *all -= by_address.size(); }
    uint64_t first() const { return by_address.begin()->first; }

    std::shared_ptr<size_t> all;
    Entries by_address;
  };
  using Parts = std::vector<std::shared_ptr<Part>>;

  size_t size() const { return size_; }
  // How many mappings are copied when memory is mapped there.
  size_t shared_by(uint64_t begin, uint64_t end) const;
  void put(uint64_t begin, Mapping mapping);
  // The last part that begins below an address; the first one if there is none.
  size_t part_below(uint64_t address) const;
  Part& own(size_t part);
  void insert(uint64_t begin, Mapping mapping);
  void cut_out(uint64_t begin, uint64_t end);
  // Removes what begins in that range, of one part and of whole ones.
  void erase_in(size_t part, uint64_t begin, uint64_t end);
  void erase(Parts::iterator first, Parts::iterator last);
  void note_change(const Mapping& mapping);
  // Removes what begins there, or the next one. False: there is none.
  bool remove_from(uint64_t begin);

  std::shared_ptr<size_t> all_;
  Parts parts_;  // by address
  size_t size_ = 0;
  mutable std::vector<std::shared_ptr<TableFile>> new_files_;
  mutable std::optional<std::optional<Mapping>> runtime_;  // a copy
};

// Not thread-safe. Changes are applied when a time is reached, since they may come early.
class ProcessMaps {
 public:
  // Programs can map without end, and perf does not report where memory is unmapped.
  struct Limits {
    size_t changes = 1 << 17;             // that wait for their time
    size_t mappings = 1 << 20;            // of all processes
    size_t mappings_a_process = 1 << 16;  // the kernel's own limit is about that
    size_t mappings_of_others = 3 << 18;  // above this sum, only own processes get more
  };
  using IsOwn = std::function<bool(uint32_t pid)>;
  ProcessMaps() : ProcessMaps(Limits{}) {}
  // is_own: of root or the recorder's user; empty: all are.
  explicit ProcessMaps(const Limits& limits, IsOwn is_own = {})
      : limits_(limits), is_own_(std::move(is_own)) {}

  void clear();
  // file: that of a mapping.
  void add(const pi_process_change& change, std::shared_ptr<TableFile> file);
  // Applies the changes up to this time, in the order of their times.
  void advance(uint64_t time);
  // The memory of a process now; it stays as it is when the process changes. Null: none is known.
  std::shared_ptr<const ProcessMap> of(uint32_t pid) const;
  // Mappings that are not known because of the limits.
  uint64_t refused() const { return refused_; }

 private:
  using SharedMap = std::shared_ptr<ProcessMap>;

  struct Change {
    int kind;
    uint32_t pid, parent;
    uint64_t address;
    Mapping mapping;
  };
  void apply(Change change);
  static void own(SharedMap& map, const std::shared_ptr<size_t>& all);
  void add_mapping(ProcessMap& map, uint64_t begin, Mapping mapping, size_t limit);
  size_t limit_of(uint32_t pid) const;

  const Limits limits_;
  const IsOwn is_own_;
  // A child shares its parent's until one of them changes, then those parts that did not.
  std::unordered_map<uint32_t, SharedMap> processes_;
  std::shared_ptr<size_t> mappings_ =
      std::make_shared<size_t>(0);  // of all; shared ones count once
  uint64_t refused_ = 0;
  std::multimap<uint64_t, Change> changes_;  // by time
};

}  // namespace pi::swtrace

#endif  // SWTRACE_PROCESS_MAPS_H
