// SPDX-License-Identifier: MIT
// The rules of addresses of this process that were asked for, for all threads.
#ifndef UNWIND_RULE_CACHE_H
#define UNWIND_RULE_CACHE_H

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <pi/raw_lock.h>

#include "loaded_code.h"

namespace unwind {

// A rule that has no space is computed again each time.
class RuleCache {
  struct Known {
    uint64_t address;
    uint64_t generation;
    OwnedRule rule;
  };
  using Slot = std::atomic<const Known*>;
  static constexpr size_t slots = 1 << 16, max_rules = 1 << 15, max_probes = 8;

 public:
  // What is not used of the memory is never touched.
  static constexpr size_t memory_bytes = slots * sizeof(Slot) + max_rules * sizeof(Known);
  // memory: that many bytes, all zero, aligned as a page.
  explicit RuleCache(std::byte* memory);

  // before and after are called around each computation of a rule, one at a time.
  using Around = void (*)();
  void set_around(Around before, Around after) { before_ = before, after_ = after; }

  // Valid until space ends. No lock if the rule is known.
  Table::Found find(uint64_t address, OwnedRule& space);

  // Files were unloaded: no rule is known any more.
  void forget() { generation_.fetch_add(1, std::memory_order_acq_rel); }

 private:
  static size_t slot_of(uint64_t address);
  void keep(uint64_t address, uint64_t generation, const OwnedRule& rule);

  std::atomic<uint64_t> generation_ = 0;
  Around before_ = nullptr, after_ = nullptr;
  pi::RawLock lock_;
  size_t used_ = 0;
  Slot* slots_;
  std::byte* rules_;
};

}  // namespace unwind

#endif  // UNWIND_RULE_CACHE_H
