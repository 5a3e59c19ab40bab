// SPDX-License-Identifier: MIT
// A deadline for waiting, and poll() with a deadline.
#ifndef PI_DEADLINE_H
#define PI_DEADLINE_H

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <span>

namespace pi {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Deadline(std::chrono::milliseconds from_now) : end_(Clock::now() + from_now) {}

  bool is_over() const { return Clock::now() >= end_; }
  // Milliseconds for poll(): at most `max_ms`, at least 1 so that a loop around it does not spin.
  int poll_ms(int max_ms = 60'000) const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now());
    return static_cast<int>(std::clamp<long long>(left.count(), 1, max_ms));
  }

 private:
  Clock::time_point end_;
};

// Returns the number of descriptors with an event; 0 at the deadline; -1 for an error, in errno.
// A signal does not end the wait.
inline int poll_until(std::span<pollfd> waiting, const Deadline& deadline) {
  while (!deadline.is_over()) {
    const int ready = ::poll(waiting.data(), waiting.size(), deadline.poll_ms());
    if (ready > 0 || (ready < 0 && errno != EINTR)) return ready;
  }
  return 0;
}

}  // namespace pi

#endif  // PI_DEADLINE_H
