// SPDX-License-Identifier: MIT
// The start time of a process.
#include <gtest/gtest.h>

#include <ctime>

#include <pi/process_start.h>

namespace {

using pi::start_ticks;
using pi::started_since_boot;

TEST(ProcessStart, IsField22WhateverTheProcessName) {
  EXPECT_EQ(start_ticks("1 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20 21"), 4242u);
  EXPECT_EQ(start_ticks("1 (a) S 9) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 7 20"), 7u);
  for (const auto damaged :
       {"", "1 (a", "1 (a) S 1 2", "1 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x"})
    EXPECT_FALSE(start_ticks(damaged)) << damaged;
}

TEST(ProcessStart, OfThisProcessIsBeforeNow) {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const auto nanoseconds =
      static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  const auto started = started_since_boot("self");
  ASSERT_TRUE(started);
  EXPECT_LE(*started, nanoseconds);
  EXPECT_GT(*started + 600'000'000'000, nanoseconds);
  EXPECT_FALSE(started_since_boot("0"));
}

}  // namespace
