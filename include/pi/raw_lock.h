// SPDX-License-Identifier: MIT
// A lock for code inside other programs: it calls nothing but the kernel, and zeroed memory is an
// open one. Not recursive.
#ifndef PI_RAW_LOCK_H
#define PI_RAW_LOCK_H

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace pi {

class RawLock {
 public:
  void lock() {
    uint32_t seen = open;
    if (state_.compare_exchange_strong(seen, taken, std::memory_order_acquire)) return;
    const int error = errno;
    while (state_.exchange(awaited, std::memory_order_acquire) != open)
      ::syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, awaited, nullptr, nullptr, 0);
    errno = error;
  }
  void unlock() {
    if (state_.exchange(open, std::memory_order_release) != awaited) return;
    const int error = errno;
    ::syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    errno = error;
  }

  bool is_taken() const { return state_.load(std::memory_order_relaxed) != open; }

 private:
  static constexpr uint32_t open = 0, taken = 1, awaited = 2;
  std::atomic<uint32_t> state_ = open;
  static_assert(sizeof state_ == 4 && std::atomic<uint32_t>::is_always_lock_free);
};

}  // namespace pi

#endif  // PI_RAW_LOCK_H
