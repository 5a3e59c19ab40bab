// SPDX-License-Identifier: MIT
// A moment after which nothing is waited for any more.
#ifndef PI_ATTACH_DEADLINE_H
#define PI_ATTACH_DEADLINE_H

#include <algorithm>
#include <chrono>

namespace pi::attach {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Deadline(std::chrono::milliseconds from_now) : end_(Clock::now() + from_now) {}

  bool is_over() const { return Clock::now() >= end_; }
  // Milliseconds for poll(): at most `most`, at least 1 so that a loop around it does not spin.
  int poll_ms(int most = 60'000) const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now());
    return static_cast<int>(std::clamp<long long>(left.count(), 1, most));
  }

 private:
  Clock::time_point end_;
};

}  // namespace pi::attach

#endif  // PI_ATTACH_DEADLINE_H
