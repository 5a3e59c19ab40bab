// SPDX-License-Identifier: MIT
// Brings what several rings held into the order of time: user hooks of all threads, and ticks.
#include "hook_queue.h"

#include <algorithm>

namespace pi::perfutil {

void HookQueue::deliver(uint64_t horizon, const Put& put) {
  auto& hooks = batch_.hooks;
  std::stable_sort(hooks.begin(), hooks.end(),
                   [](const FoundHook& a, const FoundHook& b) { return a.time < b.time; });
  HookBatch waiting;
  waiting.lost = batch_.lost;
  waiting.damaged = batch_.damaged;
  for (const FoundHook& hook : hooks) {
    const auto record = batch_.record(hook);
    if (hook.time > horizon) {
      waiting.hooks.push_back(hook);
      waiting.hooks.back().place = waiting.bytes.size();
      waiting.bytes.insert(waiting.bytes.end(), record.begin(), record.end());
      continue;
    }
    Stored& last = last_[hook.ring];
    uint64_t time = std::max(hook.time, last.time + (hook.cpu != last.cpu ? 1 : 0));
    put(hook, record, time);
    last = {time, hook.cpu};
  }
  batch_ = std::move(waiting);
}

void HookQueue::reset() {
  batch_ = {};
  last_.clear();
}

void HeldTicks::hold(uint64_t time, std::span<const std::byte> record) {
  ticks_.push_back({time, bytes_.size(), record.size()});
  bytes_.insert(bytes_.end(), record.begin(), record.end());
}

void HeldTicks::release(uint64_t until,
                        const std::function<void(std::span<const std::byte>)>& put) {
  for (; next_ < ticks_.size() && ticks_[next_].time <= until; ++next_)
    put(std::span(bytes_).subspan(ticks_[next_].place, ticks_[next_].size));
  if (next_ != ticks_.size()) return;
  bytes_.clear();
  ticks_.clear();
  next_ = 0;
}

}  // namespace pi::perfutil
