// SPDX-License-Identifier: MIT
// Parsing of /proc: the clock of this process's time namespace.
#include "proc_text.h"

#include <gtest/gtest.h>

#include <ctime>

#include <pi/process_start.h>

#include "trace_clock.h"

namespace pi::jprof {
namespace {

TEST(ProcText, ParsesOffsetsOfATimeNamespace) {
  constexpr std::string_view text =
      "monotonic           3   250000000\nboottime     -2         0\n";
  EXPECT_EQ(time_offset(text, "monotonic"), 3'250'000'000);
  EXPECT_EQ(time_offset(text, "boottime"), -2'000'000'000);
  EXPECT_FALSE(time_offset(text, "mono"));
  EXPECT_FALSE(time_offset("monotonic x 0\n", "monotonic"));
  EXPECT_FALSE(time_offset("monotonic 1\n", "monotonic"));
  EXPECT_FALSE(time_offset("monotonic 9223372036854775807 0\n", "monotonic"));
}

TEST(TraceClock, IsTheMonotonicClockOfTheInitialTimeNamespace) {
  const TraceClock clock = TraceClock::of_this_process();
  timespec before{}, after{};
  ::clock_gettime(CLOCK_MONOTONIC, &before);
  const uint64_t now = clock.now() + static_cast<uint64_t>(clock.offset());
  ::clock_gettime(CLOCK_MONOTONIC, &after);
  const auto nanoseconds = [](const timespec& time) {
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
  };
  EXPECT_LE(nanoseconds(before), now);
  EXPECT_LE(now, nanoseconds(after));
  // The process started before now and after the machine booted.
  EXPECT_LT(clock.from_boot_time(started_since_boot("self").value()), clock.now());
  EXPECT_NE(namespace_inode("/proc/self/ns/pid"), 0u);
  EXPECT_FALSE(read_proc("/proc/self/none"));
}

}  // namespace
}  // namespace pi::jprof
