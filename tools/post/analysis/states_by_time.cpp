// SPDX-License-Identifier: MIT
// Computes how long each thread ran, could have run and was in an unknown state, each wait,
// wake-ups and user hooks, by time.
#include "states_by_time.h"

#include <algorithm>

namespace post {

void StatesByTime::add(uint32_t thread, OffCpu::ThreadState state, uint32_t cpu, uint32_t wait,
                       uint64_t from, uint64_t to) {
  if (known_.size() <= thread) known_.resize(thread + 1);
  Range& range = known_[thread];
  if (state == OffCpu::ThreadState::unknown) {
    // Before its first known state there may have been no thread at all.
    if (range.last != 0) by_thread.add_span(from, to, states * thread + unknown);
    return;
  }
  range.first = std::min(range.first, from);
  range.last = std::max(range.last, to);
  if (state == OffCpu::ThreadState::runnable)
    by_thread.add_span(from, to, states * thread + runnable);
  if (state != OffCpu::ThreadState::running) {
    const WaitState kind = state == OffCpu::ThreadState::runnable ? wait_runnable : wait_blocked;
    if (wait == OffCpu::no_wait)
      by_unknown_wait.add_span(from, to, wait_states * thread + kind);
    else
      by_wait.add_span(from, to, wait_states * wait + kind);
    return;
  }
  by_thread.add_span(from, to, states * thread + running);
  by_cpu.add_span(from, to, cpu);
}

// Hooks are selected as the threads that wrote them.
void StatesByTime::take_hook(const Arrival& arrival) {
  const uint32_t cpu = arrival.stream.cpu();
  const uint32_t thread = times_.running(cpu);
  if (filter_) {
    const bool selected = thread == OffCpu::no_thread ? filter_->takes_unknown_thread()
                          : thread == OffCpu::idle
                              ? filter_->takes_thread(idle_pid, idle_pid, arrival.time())
                              : times_.thread(thread).selected;
    if (!selected) return;
  }
  hooks.add(arrival.record(), cpu, thread, arrival.time());
}

}  // namespace post
