// SPDX-License-Identifier: MIT
// Sums by key and time, compared with sums of the single nanoseconds.
#include <analysis/time_sums.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

namespace {

using post::TimeSums;

using Amounts = std::map<std::pair<uint32_t, uint64_t>, uint64_t>;  // by key and bin

Amounts amounts_of(TimeSums& sums) {
  Amounts amounts;
  for (const TimeSums::Sum& sum : sums.sums())
    for (uint64_t bin = sum.first; bin <= sum.last; ++bin)
      if (sum.amount != 0) amounts[{sum.key, bin}] += sum.amount;
  return amounts;
}

// The same spans, nanosecond by nanosecond in bins of 2^shift.
Amounts amounts_of(const std::vector<TimeSums::Sum>& spans, unsigned shift) {
  Amounts amounts;
  for (const TimeSums::Sum& span : spans)
    for (uint64_t time = span.first; time < span.last;) {
      const uint64_t next = std::min(span.last, ((time >> shift) + 1) << shift);
      amounts[{span.key, time >> shift}] += next - time;
      time = next;
    }
  return amounts;
}

TEST(TimeSums, TicksOfOneBinAreOneSum) {
  TimeSums sums;
  for (uint64_t time = 4096; time < 4100; ++time) sums.add(time, 7, 1);
  sums.add(4096, 8, 2);
  sums.add(9000, 7, 1);
  EXPECT_EQ(sums.sums(), (std::vector<TimeSums::Sum>{{7, 4, 4, 4}, {7, 8, 8, 1}, {8, 4, 4, 2}}));
  EXPECT_EQ(sums.first_bin(), 4u);
  EXPECT_EQ(sums.last_bin(), 8u);
}

TEST(TimeSums, SpansInAnyOrderHaveTheirNanosecondsInEachBin) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    TimeSums sums({.bins = 50, .sums = 40});
    std::vector<TimeSums::Sum> spans;
    for (int i = 0; i < 200; ++i) {
      const uint64_t from = 1'000'000 + random() % 300'000;
      const uint64_t to = from + random() % (i % 10 == 0 ? 200'000 : 3'000);
      const uint32_t key = static_cast<uint32_t>(random() % 4);
      spans.push_back({key, from, to, 0});
      sums.add_span(from, to, key);
    }
    EXPECT_EQ(amounts_of(sums), amounts_of(spans, sums.shift())) << "seed " << seed;
    EXPECT_LT(sums.last_bin() - sums.first_bin(), 50u);
    EXPECT_LE(sums.sums().size(), 80u);
    sums.coarsen_to(sums.shift() + 3);
    EXPECT_EQ(amounts_of(sums), amounts_of(spans, sums.shift())) << "seed " << seed;
  }
}

TEST(TimeSums, ALongSpanIsOneSumAndItsEnds) {
  TimeSums sums;
  sums.add_span(1000, 2'000'000, 1);
  EXPECT_EQ(sums.sums(),
            (std::vector<TimeSums::Sum>{
                {1, 0, 0, 24}, {1, 1, 1952, 1024}, {1, 1953, 1953, 2'000'000 - 1953 * 1024}}));
}

TEST(TimeSums, TimesOfAHostileTraceHaveTheSameLimits) {
  TimeSums sums({.bins = 100, .sums = 100});
  sums.add(UINT64_MAX, 1, 1);
  sums.add(0, 1, 1);
  sums.add_span(0, UINT64_MAX, 2);
  for (uint32_t key = 0; key < 1000; ++key) sums.add(uint64_t{key} << 50, key, 1);
  EXPECT_LT(sums.last_bin() - sums.first_bin(), 100u);
  uint64_t ticks = 0;
  for (const TimeSums::Sum& sum : sums.sums())
    if (sum.key != 2) ticks += sum.amount;
  EXPECT_GE(ticks, 1001u);
}

// Each addition beyond the limit would unite all sums: minutes.
TEST(TimeSums, MoreKeysThanTheLimitTakeTimeInProportion) {
  TimeSums sums({.bins = 100, .sums = 1000});
  constexpr uint32_t keys = 500'000;
  for (uint32_t key = 0; key < keys; ++key) sums.add(uint64_t{key} << 12, key, 1);
  EXPECT_EQ(sums.sums().size(), keys);
  // Each has one time: longer bins would not make them fewer.
  EXPECT_GE(sums.last_bin() - sums.first_bin(), 49u);
}

// But where the keys have many times, they do.
TEST(TimeSums, ManyKeysHaveTwoSumsEachAtMost) {
  TimeSums sums({.bins = 1000, .sums = 1000});
  constexpr uint32_t keys = 2000;
  for (uint64_t time = 0; time < 500; ++time)
    for (uint32_t key = 0; key < keys; ++key) sums.add(time << 12, key, 1);
  EXPECT_LE(sums.sums().size(), 8 * keys);  // those since they were last united, too
  EXPECT_GE(sums.last_bin() - sums.first_bin(), 1u);
}

}  // namespace
