// SPDX-License-Identifier: MIT
// A timer for each sampled thread, which expires each time that the thread has used the processor
// for a period.
#ifndef PI_JPROF_CPU_TIMERS_H
#define PI_JPROF_CPU_TIMERS_H

#include <cstdint>
#include <ctime>
#include <mutex>
#include <unordered_map>

namespace pi::jprof {

// Thread-safe. The kernel examines these timers at its own clock's ticks; a signal that comes later
// than a period tells how many have passed (si_overrun).
class CpuTimers {
 public:
  // What add() and replace() give the timers: signal and its value.
  void prepare(int signal, void* mark, uint64_t period);  // nanoseconds

  // Gives a thread of this process a timer, if it has none.
  void add(uint32_t tid);
  // The thread has just started: a timer of its id was another thread's.
  void replace(uint32_t tid);
  void remove(uint32_t tid);
  void clear();

  // Threads that got no timer since prepare(), because the kernel has a limit for them.
  uint64_t refused() const;

 private:
  void create(uint32_t tid);

  mutable std::mutex mutex_;
  int signal_ = 0;
  void* mark_ = nullptr;
  uint64_t period_ = 0;
  uint64_t refused_ = 0;
  std::unordered_map<uint32_t, timer_t> timers_;  // by thread
};

}  // namespace pi::jprof

#endif  // PI_JPROF_CPU_TIMERS_H
