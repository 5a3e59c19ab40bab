// SPDX-License-Identifier: MIT
// How long a search for leaked blocks may take.
#ifndef PI_HEAPIT_SEARCH_LIMIT_H
#define PI_HEAPIT_SEARCH_LIMIT_H

#include <signal.h>
#include <time.h>

#include <cstdint>

#include <pi/heap_log.h>

namespace pi::heapit {

class SearchLimit {
 public:
  explicit SearchLimit(uint64_t nanoseconds) : begin_(now()), end_(begin_ + nanoseconds) {}

  uint64_t nanoseconds() const { return end_ - begin_; }
  uint64_t elapsed() const { return now() - begin_; }
  // Why the search must end; searched: it need not. A signal that is blocked for it ends it, too.
  heap_log::Search reached() const {
    if (now() >= end_) return heap_log::no_time;
    sigset_t waiting;
    if (::sigpending(&waiting) != 0) return heap_log::searched;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
      if (sigismember(&waiting, signal) == 1) return heap_log::interrupted;
    return heap_log::searched;
  }

 private:
  static uint64_t now() {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
  }

  const uint64_t begin_, end_;
};

}  // namespace pi::heapit

#endif  // PI_HEAPIT_SEARCH_LIMIT_H
