// SPDX-License-Identifier: MIT
// Counts ticks (samples) by path of names. Two bounded caches precede the symbolizer, so that an
// address costs one lookup and a tick at a known address a few instructions.
#ifndef POST_TICK_COUNTER_H
#define POST_TICK_COUNTER_H

#include <pi/decode.h>

#include <array>
#include <cstdint>

#include "read/subscriber.h"
#include "sample_tree.h"
#include "state/processes.h"
#include "state/resolver.h"
#include "state/symbolizer.h"
#include "text/cache_places.h"
#include "text/labels.h"
#include "text/string_table.h"

namespace post {

struct TickTotals {
  uint64_t ticks = 0;
  uint64_t no_module = 0;
  uint64_t no_symbol = 0;
  uint64_t first_time = 0;
  uint64_t last_time = 0;
};

class TickCounter final : public Subscriber {
 public:
  struct Options {
    LabelOptions labels = {};
    bool offsets = false;       // the offset in the symbol is part of the path
    bool module_width = false;  // names of 64-bit modules end in _64
    bool inlined = false;       // symbols are the innermost inlined functions
    bool totals_only = false;   // no path is counted: tree() remains empty
    // Of the caches; a power of two. By default about two megabytes each: programs have far fewer
    // hot addresses.
    size_t sets = 1 << 15;
  };

  // All three must outlive this. Waiting ticks are counted before a runtime's events change names.
  TickCounter(Processes& processes, Symbolizer& symbolizer, StringTable& names, Options options);

  void add(const pi::TprofTick& tick, uint32_t cpu, uint64_t time) {
    if (count_++ == 0) first_time_ = time;
    last_time_ = time;
    if (options_.totals_only) return;
    const Process& process = processes_.at(tick.pid, time);
    Waiting& place = waiting_[waiting_count_];
    place.key = {tick.address,
                 process.names_version,
                 *process.maps_version,
                 tick.tid,
                 options_.labels.per_cpu ? static_cast<uint16_t>(cpu) : uint16_t{0},
                 tick.user};
    place.set = &sets_.at(hash_of(place.key));
    place.process = &process;
    place.time = time;
    __builtin_prefetch(place.set);
    if (++waiting_count_ == waiting_.size()) settle();
  }

  // Before Processes, which change with metadata records.
  void subscribe(Subscriptions& to) override {
    to.add(*this, {PITRACE_MAJOR_TPROF, PITRACE_MAJOR_MTE});
  }
  bool take(const Arrival& arrival) override {
    if (!arrival.tick)
      settle();
    else if (arrival.tick_selected)
      add(*arrival.tick, arrival.stream.cpu(), arrival.time());
    return true;
  }
  void end_trace() override { finish(); }

  TickCounter(const TickCounter&) = delete;
  TickCounter& operator=(const TickCounter&) = delete;

  // Counts the waiting ticks; to be called before a process changes.
  void settle();

  // Adds the ticks that are not yet in the tree; to be called once, after the last tick.
  void finish();

  TickTotals totals() const;
  const SampleTree& tree() const { return tree_; }

 private:
  // Everything that the path of a tick depends on. With its versions an entry is valid for one
  // state of the process.
  struct Key {
    uint64_t address = 0;
    uint32_t names_version = 0;  // 0: none, no tick has it
    uint32_t maps_version = 0;
    uint32_t tid = 0;
    uint16_t cpu = 0;  // the reader refuses CPU numbers that do not fit
    bool user = false;
    bool operator==(const Key&) const = default;
  };

  // The leaf of a tick's path, and ticks not yet added to the tree: most ticks touch only this
  // cache line.
  struct Entry {
    Key key;
    uint32_t leaf = 0;
    uint32_t ticks = 0;
  };
  struct alignas(64) Set {
    Entry way[2];
  };

  // A tick that waits for its set: several wait together, so that the processor fetches their sets
  // from memory at the same time.
  struct Waiting {
    Key key;
    Set* set = nullptr;
    const Process* process = nullptr;
    uint64_t time = 0;
  };

  static uint64_t hash_of(const Key& key) {
    const uint64_t mixed =
        (key.address ^ static_cast<uint64_t>(key.tid) << 40 ^ key.names_version) *
        0x9e3779b97f4a7c15ull;
    return mixed >> 32;
  }

  Entry& replace(const Waiting& tick);
  void grow();
  void flush(Entry& entry);

  Processes& processes_;
  StringTable& names_;
  const Options options_;
  Resolver resolver_;
  SampleTree tree_;
  CachePlaces<Set> sets_;
  std::array<Waiting, 16> waiting_;
  size_t waiting_count_ = 0;
  uint64_t count_ = 0;
  uint64_t first_time_ = 0;
  uint64_t last_time_ = 0;
};

}  // namespace post

#endif  // POST_TICK_COUNTER_H
