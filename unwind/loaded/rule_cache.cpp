// SPDX-License-Identifier: MIT
// The rules of addresses of this process that were asked for, for all threads.
#include "rule_cache.h"

#include <mutex>
#include <new>

namespace unwind {

RuleCache::RuleCache(std::byte* memory)
    : slots_(reinterpret_cast<Slot*>(memory)), rules_(memory + slots * sizeof(Slot)) {}

size_t RuleCache::slot_of(uint64_t address) {
  return (address * 0x9e3779b97f4a7c15) >> 48;
}

Table::Found RuleCache::find(uint64_t address, OwnedRule& space) {
  const uint64_t generation = generation_.load(std::memory_order_acquire);
  size_t slot = slot_of(address);
  for (size_t i = 0; i < max_probes; ++i, slot = (slot + 1) % slots) {
    const Known* known = slots_[slot].load(std::memory_order_acquire);
    if (!known) break;
    if (known->address == address && known->generation == generation) return known->rule.found();
  }
  const std::lock_guard lock(lock_);
  if (before_) before_();
  space = find_rule(address);
  if (after_) after_();
  keep(address, generation, space);
  return space.found();
}

// Older rules stay in memory: threads may read them.
void RuleCache::keep(uint64_t address, uint64_t generation, const OwnedRule& rule) {
  size_t slot = slot_of(address);
  for (size_t i = 0; i < max_probes && used_ < max_rules; ++i, slot = (slot + 1) % slots) {
    const Known* known = slots_[slot].load(std::memory_order_relaxed);
    if (known && known->generation == generation) continue;
    const auto* added = new (rules_ + used_++ * sizeof(Known)) Known{address, generation, rule};
    slots_[slot].store(added, std::memory_order_release);
    return;
  }
}

}  // namespace unwind
