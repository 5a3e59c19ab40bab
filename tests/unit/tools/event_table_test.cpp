// SPDX-License-Identifier: MIT
// Counts of an event: the daemon's encoding and the user's table.
#include "event_table.h"

#include <gtest/gtest.h>

namespace pi::mpevt {
namespace {

EventCounts some_counts() {
  return {"page-faults", "user", true, {{0, 41, 2'000'000'000}, {3, 1, 1'999'000'000}}};
}

TEST(EventTable, EncodedCountsAreDecodedUnchanged) {
  const auto counts = decode_counts(encode_counts(some_counts()));
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->name, "page-faults");
  EXPECT_EQ(counts->privilege, "user");
  EXPECT_TRUE(counts->counting);
  ASSERT_EQ(counts->cpus.size(), 2u);
  EXPECT_EQ(counts->cpus[1].cpu, 3);
  EXPECT_EQ(counts->cpus[1].count, 1u);
  EXPECT_EQ(counts->cpus[1].counted_ns, 1'999'000'000u);
  EXPECT_EQ(counts->total(), 42u);
}

TEST(EventTable, InvalidLinesAreRefused) {
  for (const char* lines : {"", "cpu=0 1 2\n", "event=x\ncpu=0 1\n", "event=x\ncpu=a 1 2\n",
                            "event=x\ncpu=0 1 2 3\n", "event=x\ncpu=0 -1 2\n"})
    EXPECT_FALSE(decode_counts(lines)) << lines;
}

TEST(EventTable, TheTableHasEveryCpuAndTheSum) {
  EXPECT_EQ(table_of(some_counts()),
            " page-faults (counting, in user mode)\n"
            "   CPU                  Count     Seconds\n"
            "     0                     41       2.000\n"
            "     3                      1       1.999\n"
            "   All                     42\n");
}

TEST(EventTable, ACpuCountedForLessTimeIsReported) {
  EXPECT_TRUE(gaps_of(some_counts()).empty());
  auto counts = some_counts();
  counts.cpus[1].counted_ns = 1'500'000'000;
  ASSERT_EQ(gaps_of(counts).size(), 1u);
  EXPECT_EQ(gaps_of(counts).front(),
            "CPU 3 was counted for 1.500 of 2.000 seconds: it was offline, or its counter was not "
            "available.");
  EXPECT_EQ(json_of(counts)["gaps"].size(), 1u);
  EXPECT_EQ(json_of(counts)["total"].whole_number(), 42u);
}

}  // namespace
}  // namespace pi::mpevt
