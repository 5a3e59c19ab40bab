// SPDX-License-Identifier: MIT
// Residual overhead of interrupts, computed from the samples of a thread.
#include "ptt/ptt_calibrate.h"

#include <gtest/gtest.h>

namespace pi::perfutil {
namespace {

TEST(PttCalibrate, MeasuringContinuesUntilThereAreEnoughEvents) {
  constexpr MeasuringTime time{100, 1000, 20};
  EXPECT_FALSE(time.is_over(5000, 5099, 30));
  EXPECT_TRUE(time.is_over(5000, 5100, 20));
  EXPECT_FALSE(time.is_over(5000, 5100, 19));
  EXPECT_FALSE(time.is_over(5000, 5999, 0));
  EXPECT_TRUE(time.is_over(5000, 6000, 0));
}

TEST(PttCalibrate, TheMinimumOfEachVectorIsUsed) {
  ResidueMeter meter;
  for (const uint64_t left : {310, 300, 305}) meter.add(0xec, 0, left);
  meter.add(PITRACE_PTT_DEVICE, 0, 594);
  const auto residue = meter.result();
  EXPECT_EQ(residue.hard[0xec], 300);
  EXPECT_EQ(residue.hard[PITRACE_PTT_DEVICE], 594);
  EXPECT_EQ(residue.hard[0xed], 0);
  EXPECT_EQ(residue.first_soft, 0);
  EXPECT_EQ(meter.interrupts(), 4u);
}

TEST(PttCalibrate, SoftirqCostIsTheDifference) {
  ResidueMeter meter;
  meter.add(0xec, 0, 200);
  meter.add(0xec, 1, 290);
  meter.add(0xec, 2, 320);
  meter.add(PITRACE_PTT_DEVICE, 1, 690);
  const auto residue = meter.result();
  EXPECT_EQ(residue.hard[0xec], 200);
  EXPECT_EQ(residue.first_soft, 90);
  EXPECT_EQ(residue.next_soft, 30);
  EXPECT_EQ(residue.hard[PITRACE_PTT_DEVICE], 600);
}

// Interrupt and softirq cannot be separated then: the sum is used for the interrupt.
TEST(PttCalibrate, AVectorThatAlwaysHasASoftirqIncludesItsCost) {
  ResidueMeter meter;
  meter.add(0xec, 1, 300);
  EXPECT_EQ(meter.result().hard[0xec], 300);
  EXPECT_EQ(meter.result().first_soft, 0);
}

TEST(PttCalibrate, LargeValuesAreClippedAndInvalidVectorsSkipped) {
  ResidueMeter meter;
  meter.add(1, 0, 100'000);
  meter.add(5000, 0, 1);
  EXPECT_EQ(meter.result().hard[1], 65535);
}

}  // namespace
}  // namespace pi::perfutil
