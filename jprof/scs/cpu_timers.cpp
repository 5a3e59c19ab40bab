// SPDX-License-Identifier: MIT
// A timer for each sampled thread.
#include "scs/cpu_timers.h"

#include <csignal>

#include <cerrno>

namespace pi::jprof {
namespace {

// The kernel's id of the clock of another thread's processor time (include/linux/posix-timers.h):
// the inverted thread id, and bits for "of a thread" and "time scheduled".
clockid_t clock_of(uint32_t tid) {
  constexpr unsigned of_thread = 4, scheduled = 2;
  return static_cast<clockid_t>(~tid << 3 | of_thread | scheduled);
}

timespec time_of(uint64_t nanoseconds) {
  constexpr uint64_t second = 1'000'000'000;
  timespec time{};
  time.tv_sec = static_cast<time_t>(nanoseconds / second);
  time.tv_nsec = static_cast<long>(nanoseconds % second);
  return time;
}

}  // namespace

void CpuTimers::prepare(int signal, void* mark, uint64_t period) {
  const std::lock_guard lock(mutex_);
  signal_ = signal;
  mark_ = mark;
  period_ = period;
  refused_ = 0;
}

void CpuTimers::create(uint32_t tid) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal_;
  event.sigev_value.sival_ptr = mark_;
  event._sigev_un._tid = static_cast<pid_t>(tid);
  timer_t timer{};
  if (::timer_create(clock_of(tid), &event, &timer) != 0) {
    // EINVAL: the thread has ended.
    if (errno != EINVAL) ++refused_;
    return;
  }
  // Threads that start together are not to be interrupted together.
  constexpr uint64_t spread = 0x9e3779b97f4a7c15;
  itimerspec times{};
  times.it_interval = time_of(period_);
  times.it_value = time_of(1 + tid * spread % period_);
  (void)::timer_settime(timer, 0, &times, nullptr);
  timers_[tid] = timer;
}

void CpuTimers::add(uint32_t tid) {
  const std::lock_guard lock(mutex_);
  if (!timers_.contains(tid)) create(tid);
}

void CpuTimers::replace(uint32_t tid) {
  remove(tid);
  add(tid);
}

void CpuTimers::remove(uint32_t tid) {
  const std::lock_guard lock(mutex_);
  const auto found = timers_.find(tid);
  if (found == timers_.end()) return;
  (void)::timer_delete(found->second);
  timers_.erase(found);
}

void CpuTimers::clear() {
  const std::lock_guard lock(mutex_);
  for (const auto& [tid, timer] : timers_) (void)::timer_delete(timer);
  timers_.clear();
}

uint64_t CpuTimers::refused() const {
  const std::lock_guard lock(mutex_);
  return refused_;
}

}  // namespace pi::jprof
