// SPDX-License-Identifier: MIT
// The threads of this process that write user hooks: one entry each, found without a lock.
#ifndef PI_PERFUTIL_HOOK_THREADS_H
#define PI_PERFUTIL_HOOK_THREADS_H

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "hook_protocol.h"

namespace pi::perfutil {

// An entry belongs to one thread until that has ended; then to another. Only its thread writes to
// it. Exceptions: owner, and mapping and generation when the thread was seen outside of any hook.
struct alignas(64) HookThread {
  std::atomic<uint64_t> owner{0};  // thread id, above it how often the entry was claimed; 0: free
  uint32_t nest = 0;               // active hooks; more than one in a signal handler's hook
  uint32_t generation = 0;         // of the attachment that the ring belongs to; 0: none
  uint32_t setting_up = 0;         // the ring is being mapped
  std::byte* mapping = nullptr;    // the ring's memory; null: none
  pitrace_ring ring{};
};

// Everything here is async-signal-safe and takes no lock. All zero is the initial state.
class HookThreads {
 public:
  // An entry for the calling thread, at most one a thread; null when there are too many threads.
  HookThread* claim();

  // How many entries have ever been claimed.
  uint32_t used() const { return used_.load(std::memory_order_acquire); }
  HookThread& at(uint32_t index) { return table_[index]; }
  uint32_t index_of(const HookThread& thread) const {
    return static_cast<uint32_t>(&thread - table_);
  }

 private:
  HookThread* take(HookThread& entry, uint64_t seen, uint32_t tid);
  HookThread* take_own_or_free(uint32_t tid);
  HookThread* take_new(uint32_t tid);
  bool free_entries_of_ended_threads();

  std::atomic<uint32_t> used_{0};
  HookThread table_[max_hook_rings]{};
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_HOOK_THREADS_H
