// SPDX-License-Identifier: MIT
// Whether the process that has a traced process's id now is that process.
#include "running_process.h"

#include <ctime>
#include <string>

#include <pi/process_start.h>

namespace a2n {
namespace {

uint64_t clock_now(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

bool runs_since(uint32_t pid, uint64_t time) {
  constexpr uint64_t error = 20'000'000;  // ns: start times are in clock ticks of 10 ms
  const auto started = pi::started_since_boot(std::to_string(pid));
  if (!started) return false;
  if (time == 0) return true;
  // Times of traces are of CLOCK_MONOTONIC, which stops while the machine sleeps.
  const uint64_t age = clock_now(CLOCK_BOOTTIME) - *started;
  const uint64_t now = clock_now(CLOCK_MONOTONIC);
  return age + time + error >= now;
}

}  // namespace a2n
