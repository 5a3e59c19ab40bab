// SPDX-License-Identifier: MIT
// Writers that are interrupted by nested writers, concurrent with one reader: records that it reads
// are complete, in order, and without gaps except for reported losses. PITRACE_STORM_RECORDS sets
// the number of records (default 1,000,000).
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "ring_storm.h"

namespace {

using test_support::StormPlan;
using test_support::StormResult;

StormPlan plan() {
  StormPlan plan;
  if (const char* records = std::getenv("PITRACE_STORM_RECORDS"))
    plan.records = std::strtoull(records, nullptr, 10);
  return plan;
}

// Checks that apply to both modes, and that nesting and wrapping really occurred.
void expect_good(const StormResult& result, const StormPlan& plan) {
  EXPECT_EQ(result.problems, 0u) << result.first_problem;
  EXPECT_GE(result.attempted, plan.records);
  EXPECT_EQ(result.counted_produced, result.attempted);
  EXPECT_GT(result.nested, result.attempted / 1000);
  EXPECT_GT(result.nested_twice, 0u);
  EXPECT_GT(result.laps, result.attempted / 10'000);
  EXPECT_GT(result.time_records, 0u);
}

TEST(RingStorm, ConsumedRecordsAreCompleteAndOrderedAndLossesAreReported) {
  const StormResult result = test_support::continuous_storm(plan());
  expect_good(result, plan());
  EXPECT_EQ(result.read + result.lost, result.attempted);
  EXPECT_EQ(result.lost, result.lost_reported);
  EXPECT_EQ(result.lost, result.counted_lost);
  EXPECT_GT(result.lost, 0u);
  EXPECT_GT(result.read, result.attempted / 4);
  std::cout << result.attempted << " records, " << result.nested << " nested, "
            << result.nested_twice << " twice, " << result.lost << " lost and reported, "
            << result.seconds << " s\n";
}

TEST(RingStorm, SnapshotsDuringOverwriteAreCompleteAndWithoutGaps) {
  StormPlan big = plan();
  big.writers = 2;
  big.ring_bytes = 1 << 20;
  const StormResult result = test_support::snapshot_storm(big);
  EXPECT_EQ(result.problems, 0u) << result.first_problem;
  EXPECT_EQ(result.counted_produced, result.attempted);
  EXPECT_EQ(result.counted_lost, 0u);
  EXPECT_GT(result.nested_twice, 0u);
  EXPECT_GT(result.laps, 10u);
  EXPECT_GT(result.snapshots, 10u);
  EXPECT_GT(result.read, result.snapshots * 100);
  std::cout << result.attempted << " records, " << result.snapshots << " snapshots of "
            << result.read / result.snapshots << " on average, " << result.seconds << " s\n";
}

}  // namespace
