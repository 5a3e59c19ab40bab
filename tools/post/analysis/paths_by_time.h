// SPDX-License-Identifier: MIT
// Counts ticks by thread, call path and time, and by CPU and time.
#ifndef POST_PATHS_BY_TIME_H
#define POST_PATHS_BY_TIME_H

#include <cstdint>
#include <unordered_map>

#include "call_tree.h"
#include "code_by_time.h"
#include "time_sums.h"

namespace post {

class PathsByTime final : public Subscriber {
 public:
  // All three must outlive this. begin: the time of the trace's first record.
  PathsByTime(Processes& processes, Symbolizer& symbolizer, StringTable& names,
              CallTree::Options options, uint64_t begin)
      : code(processes, symbolizer, names, options.frames, options.cache_entries),
        calls_(processes, symbolizer, names, options),
        begin_(begin) {}

  void subscribe(Subscriptions& to) override { to.add(*this, {PITRACE_MAJOR_TPROF}); }
  bool take(const Arrival& arrival) override {
    if (arrival.tick_selected)
      add(*arrival.tick, arrival.record(), arrival.stream.cpu(), arrival.time(),
          arrival.user_frames);
    return true;
  }
  void add(const pi::TprofTick& tick, const pi::RecordView& record, uint32_t cpu, uint64_t time,
           const pi::UserFrames* user_frames = nullptr);

  // A path without callers if the tick had no stack.
  const CallTree& calls() const { return calls_; }
  // The id of a thread, by its place in calls().paths().
  uint32_t tid(uint32_t thread) const { return tids_.at(thread); }
  uint64_t begin() const { return begin_; }

  // Keys are places in calls().paths().
  TimeSums by_path;
  // Keys are CPU numbers, 2 * CPU + 1 for ticks of the idle task.
  TimeSums by_cpu;
  CodeByTime code;

 private:
  CallTree calls_;
  const uint64_t begin_;
  std::unordered_map<uint32_t, uint32_t> tids_;
};

}  // namespace post

#endif  // POST_PATHS_BY_TIME_H
