// SPDX-License-Identifier: MIT
// Waits for the next sample of a series, until a signal ends the series.
#include "interval.h"

#include <cerrno>
#include <initializer_list>

namespace pi::cli {

sigset_t hold_signals() {
  sigset_t ending;
  sigemptyset(&ending);
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM}) sigaddset(&ending, signal);
  ::sigprocmask(SIG_BLOCK, &ending, nullptr);
  return ending;
}

bool sleep_until(const timespec& end, const sigset_t& ending) {
  for (;;) {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    timespec left{end.tv_sec - now.tv_sec, end.tv_nsec - now.tv_nsec};
    if (left.tv_nsec < 0) left = {left.tv_sec - 1, left.tv_nsec + 1'000'000'000};
    if (left.tv_sec < 0) left = {0, 0};
    if (::sigtimedwait(&ending, nullptr, &left) > 0) return false;
    if (errno == EAGAIN) return true;
  }
}

}  // namespace pi::cli
