// SPDX-License-Identifier: MIT
// Parsing of /proc: the process's start time and the clock of its time namespace.
#include "proc_text.h"

#include <gtest/gtest.h>

#include <ctime>

#include "trace_clock.h"

namespace pi::jprof {
namespace {

TEST(ProcText, StartTimeIsField22WhateverTheProcessName) {
  EXPECT_EQ(start_ticks("1 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20 21"), 4242u);
  EXPECT_EQ(start_ticks("1 (a) S 9) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 7 20"), 7u);
  for (const auto damaged :
       {"", "1 (a", "1 (a) S 1 2", "1 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x"})
    EXPECT_FALSE(start_ticks(damaged)) << damaged;
}

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
  const auto stat = read_proc("/proc/self/stat");
  ASSERT_TRUE(stat);
  EXPECT_LT(clock.from_boot_time(start_ticks(*stat).value() * 10'000'000), clock.now());
  EXPECT_NE(namespace_inode("/proc/self/ns/pid"), 0u);
  EXPECT_FALSE(read_proc("/proc/self/none"));
}

}  // namespace
}  // namespace pi::jprof
