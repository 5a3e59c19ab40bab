// SPDX-License-Identifier: MIT
// AboveIdle's percentages: exact sums, the classic line format, CPU hotplug.
#include "ai_lines.h"

#include <gtest/gtest.h>

#include <random>

namespace pi::swtrace {
namespace {

TEST(AiLines, LinesHaveTheClassicFormat) {
  EXPECT_EQ(ai_line("CPU 0", {5120, 4760, 120, 0, 0}),
            "CPU 0 IDLE= 51.20, BUSY= 47.60, INTR= 1.20");
  EXPECT_EQ(ai_line("System", {1, 0, 0, 0, 0}), "System IDLE= 100.00, BUSY= 0.00, INTR= 0.00");
  EXPECT_EQ(ai_line("CPU 1", {9980, 0, 20, 0, 0}), "CPU 1 IDLE= 99.80, BUSY= 0.00, INTR= 0.20");
}

TEST(AiLines, SharesAddUpToAHundredPercentExactly) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10000; ++i) {
    const AiTimes times{random() % 1'000'000'007, random() % 1'000'000'007, random() % 1000, 0, 0};
    const AiShares shares = ai_shares(times);
    ASSERT_EQ(shares.idle + shares.busy + shares.interrupt, 10000);
    ASSERT_GE(shares.interrupt, 0);
    const double total = static_cast<double>(times.idle + times.busy + times.interrupt);
    ASSERT_NEAR(shares.idle, 1e4 * static_cast<double>(times.idle) / total, 1.01);
    ASSERT_NEAR(shares.busy, 1e4 * static_cast<double>(times.busy) / total, 1.01);
  }
  const AiShares thirds = ai_shares({1, 1, 1, 0, 0});
  EXPECT_EQ(thirds.idle + thirds.busy + thirds.interrupt, 10000);
}

TEST(AiLines, ACpuWithoutElapsedTimeIsIdle) {
  EXPECT_EQ(ai_shares({}).idle, 10000);
}

TEST(AiLines, AnOfflineCpuHasNoTimesAndIsNotInTheSum) {
  const std::vector<ai_counters> before{
      {100, 60, 30, 10, 5, 0xffffffff}, {}, {500, 1, 1, 498, 0, 0}};
  const std::vector<ai_counters> after{{200, 110, 70, 20, 9, 1}, {}, {100, 100, 0, 0, 0, 0}};
  const auto cpus = ai_times(before, after);
  ASSERT_EQ(cpus.size(), 3u);
  ASSERT_TRUE(cpus[0]);
  EXPECT_EQ(cpus[0]->idle, 50u);
  EXPECT_EQ(cpus[0]->busy, 40u);
  EXPECT_EQ(cpus[0]->interrupt, 10u);
  EXPECT_EQ(cpus[0]->dispatches, 4u);
  EXPECT_EQ(cpus[0]->interrupts, 2u);  // the counter wrapped around
  EXPECT_FALSE(cpus[1]);               // offline
  EXPECT_FALSE(cpus[2]);               // was offline in between
  EXPECT_EQ(ai_sum(cpus).idle, 50u);
}

}  // namespace
}  // namespace pi::swtrace
