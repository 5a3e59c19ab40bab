// SPDX-License-Identifier: MIT
// The trace clock; a file of its own, because the hook client needs no other part of the library.
#include <ctime>

#include <pitrace/ring.h>

#include "system_facts.h"

namespace pi::perfutil {

uint64_t trace_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace pi::perfutil

// Required by pitrace/ring.h.
__u64 pitrace_clock() {
  return pi::perfutil::trace_clock();
}
