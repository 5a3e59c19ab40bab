// SPDX-License-Identifier: MIT
// The threads of this process that write user hooks: one entry each, found without a lock.
#include "hook_threads.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace pi::perfutil {
namespace {

uint32_t thread_of(uint64_t owner) {
  return static_cast<uint32_t>(owner);
}

uint64_t next_claim(uint64_t owner, uint32_t tid) {
  return ((owner >> 32) + 1) << 32 | tid;
}

// Whether it is a thread of this process. When another thread has got the id of an ended one, the
// ended one looks alive; that only wastes an entry.
bool is_alive(uint32_t tid) {
  return ::syscall(SYS_tgkill, ::getpid(), tid, 0) == 0 || errno != ESRCH;
}

}  // namespace

// The number of the claim in owner makes sure that of two threads which saw the same owner only one
// succeeds, even when thread ids are used again.
HookThread* HookThreads::take(HookThread& entry, uint64_t seen, uint32_t tid) {
  const uint64_t wanted = next_claim(seen, tid);
  // Acquire: what the last owner wrote to its ring is seen.
  if (!entry.owner.compare_exchange_strong(seen, wanted, std::memory_order_acq_rel)) return nullptr;
  // A thread that ended while it wrote a hook left an incomplete record in its ring. Such an entry
  // is never used again: its owner becomes a thread that does not exist.
  if (entry.nest == 0 && entry.setting_up == 0) return &entry;
  entry.owner.store(~0ull, std::memory_order_release);
  return nullptr;
}

// An entry with our id belonged to an ended thread of that id: our own is found without a search.
HookThread* HookThreads::take_own_or_free(uint32_t tid) {
  const uint32_t count = used();
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t owner = table_[i].owner.load(std::memory_order_acquire);
    if (thread_of(owner) != tid && thread_of(owner) != 0) continue;
    if (HookThread* taken = take(table_[i], owner, tid)) return taken;
  }
  return nullptr;
}

HookThread* HookThreads::take_new(uint32_t tid) {
  uint32_t index = used();
  while (index < max_hook_rings) {
    // Claimed before it is counted, so that a counted entry without owner is really free.
    uint64_t none = 0;
    if (!table_[index].owner.compare_exchange_strong(none, next_claim(0, tid),
                                                     std::memory_order_acq_rel)) {
      index = std::max(index + 1, used());
      continue;
    }
    uint32_t seen = used();
    while (seen <= index && !used_.compare_exchange_weak(seen, index + 1)) {
    }
    return &table_[index];
  }
  return nullptr;
}

bool HookThreads::free_entries_of_ended_threads() {
  bool freed = false;
  const uint32_t count = used();
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t owner = table_[i].owner.load(std::memory_order_acquire);
    if (owner == ~0ull || thread_of(owner) == 0 || is_alive(thread_of(owner))) continue;
    freed |= table_[i].owner.compare_exchange_strong(owner, next_claim(owner, 0),
                                                     std::memory_order_acq_rel);
  }
  return freed;
}

HookThread* HookThreads::claim() {
  const auto tid = static_cast<uint32_t>(::syscall(SYS_gettid));
  if (HookThread* taken = take_own_or_free(tid)) return taken;
  // This costs a system call for each thread: only when their number has doubled.
  const uint32_t count = used();
  const bool look = (count & (count - 1)) == 0 || count >= max_hook_rings;
  if (count != 0 && look && free_entries_of_ended_threads())
    if (HookThread* taken = take_own_or_free(tid)) return taken;
  return take_new(tid);
}

}  // namespace pi::perfutil
