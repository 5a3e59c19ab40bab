// SPDX-License-Identifier: MIT
// Merges records of several rings in time order: user hooks of all threads, and ticks.
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
  waiting.gone = std::move(batch_.gone);
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
  forget_gone();
}

// Drops the entries of areas that are gone and have no more hooks in the queue: until then the
// entries keep their order.
void HookQueue::forget_gone() {
  std::erase_if(batch_.gone, [this](uint64_t area) {
    const auto is_of_area = [area](uint64_t ring) { return ring / max_hook_rings == area; };
    if (std::any_of(batch_.hooks.begin(), batch_.hooks.end(),
                    [&](const FoundHook& hook) { return is_of_area(hook.ring); }))
      return false;
    std::erase_if(last_, [&](const auto& entry) { return is_of_area(entry.first); });
    return true;
  });
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
  drop_released();
}

// When ticks never pause, some always remain. They are moved when as many are released as remain,
// so that each is moved about once.
void HeldTicks::drop_released() {
  if (next_ == 0 || next_ * 2 < ticks_.size()) return;
  const size_t gone = next_ == ticks_.size() ? bytes_.size() : ticks_[next_].place;
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(gone));
  ticks_.erase(ticks_.begin(), ticks_.begin() + static_cast<ptrdiff_t>(next_));
  for (Tick& tick : ticks_) tick.place -= gone;
  next_ = 0;
}

}  // namespace pi::perfutil
