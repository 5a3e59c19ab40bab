// SPDX-License-Identifier: MIT
// The trace's clock; a file of its own, as the hook client needs nothing else of the library's.
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

// What ring.h asks for.
__u64 pitrace_clock() {
  return pi::perfutil::trace_clock();
}
