// SPDX-License-Identifier: MIT
// Computes how long each thread ran, could have run and was in an unknown state, each wait,
// wake-ups and user hooks, by time.
#ifndef POST_STATES_BY_TIME_H
#define POST_STATES_BY_TIME_H

#include <cstdint>
#include <vector>

#include "hooks_by_time.h"
#include "off_cpu.h"
#include "time_sums.h"

namespace post {

class StatesByTime final : public Subscriber, private OffCpu::Intervals {
 public:
  // All three, and the filter, must outlive this. The options' intervals are this object.
  StatesByTime(Processes& processes, Symbolizer& symbolizer, StringTable& names,
               OffCpu::Options options)
      : filter_(options.filter), times_(processes, symbolizer, names, with_intervals(options)) {}

  void subscribe(Subscriptions& to) override { to.add_to_every_major(*this); }
  // Before the first dispatch no state is known: other records matter only where some are missing.
  bool take(const Arrival& arrival) override {
    const uint32_t major = arrival.record().major();
    dispatched_ = dispatched_ || major == PITRACE_MAJOR_DISPATCH;
    const bool good =
        (!dispatched_ && major != PITRACE_MAJOR_MTE && arrival.stream.breaks() == 0) ||
        times_.take(arrival);
    if (arrival.in_range && HooksByTime::is_hook(arrival.record())) take_hook(arrival);
    return good;
  }
  void end_stream(const Stream& stream) override { times_.end_stream(stream); }
  void end_trace() override { times_.end_trace(); }

  const OffCpu& times() const { return times_; }

  // Keys are 3 * thread + one of these; threads are numbered as in times().
  enum State : uint32_t { running, runnable, unknown };
  static constexpr uint32_t states = 3;
  TimeSums by_thread{{.sums = 1 << 19}};
  // Nanoseconds during which a thread ran. Keys are CPU numbers.
  TimeSums by_cpu{{.sums = 1 << 18}};

  // Nanoseconds off the CPU. Keys are 2 * number in times().waits() + one of these.
  enum WaitState : uint32_t { wait_blocked, wait_runnable };
  static constexpr uint32_t wait_states = 2;
  TimeSums by_wait{{.sums = 1 << 19}};
  // Of threads whose last switch-out is not in the trace. Keys are 2 * thread + the same.
  TimeSums by_unknown_wait{{.sums = 1 << 18}};

  // Wake-ups. Keys are places in wakers(): below a thread is its waker, as OffCpu passes it on.
  TimeSums by_waker{{.sums = 1 << 19}};
  const PathTree& wakers() const { return wakers_; }

  // User hooks. Their thread is the one that ran on their CPU: its number, OffCpu::idle or
  // no_thread.
  HooksByTime hooks;

  // When the state of a thread was first and last known, nanoseconds. In between, it was blocked
  // when by_thread has nothing for it.
  struct Range {
    uint64_t first = UINT64_MAX;
    uint64_t last = 0;
  };
  Range known(uint32_t thread) const { return thread < known_.size() ? known_[thread] : Range{}; }

 private:
  void take_hook(const Arrival& arrival);
  OffCpu::Options with_intervals(OffCpu::Options options) {
    options.intervals = this;
    return options;
  }
  void add(uint32_t thread, OffCpu::ThreadState state, uint32_t cpu, uint32_t wait, uint64_t from,
           uint64_t to) override;
  void wake(uint32_t thread, uint32_t waker, uint64_t time) override {
    by_waker.add(time, wakers_.child(wakers_.child(PathTree::root, thread), waker), 1);
  }

  NameFilter* const filter_;
  OffCpu times_;
  bool dispatched_ = false;
  PathTree wakers_;
  std::vector<Range> known_;
};

}  // namespace post

#endif  // POST_STATES_BY_TIME_H
