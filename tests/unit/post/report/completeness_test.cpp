// SPDX-License-Identifier: MIT
// The conditions of --strict: every kind of loss, and missing counts.
#include <gtest/gtest.h>

#include "read/byte_source.h"
#include "report/completeness.h"
#include "text_trace.h"

namespace {

std::string missing(const std::string& text) {
  const auto bytes = test_support::trace_from_text(text);
  EXPECT_TRUE(bytes) << bytes.error().message;
  post::MemorySource source(*bytes);
  post::DamageLog damage;
  const auto file = read_layout(source, damage);
  EXPECT_TRUE(file);
  EXPECT_FALSE(is_damaged(*file, damage));
  return what_is_missing(*file, sum_losses(*file));
}

constexpr char counted[] =
    "info count.0.trace.produced=5\ninfo count.0.trace.written=5\nsection trace 0\n";

TEST(Completeness, ACountedTraceWithoutLossIsComplete) {
  EXPECT_EQ(missing(counted), "");
}

// Throttling loses no records.
TEST(Completeness, ThrottlingIsNoLoss) {
  EXPECT_EQ(missing(std::string("info throttled=7\n") + counted), "");
}

// Overwriting is the purpose of wrap-around mode.
TEST(Completeness, OverwrittenRecordsAreNoLoss) {
  EXPECT_EQ(missing("info count.0.trace.produced=5\ninfo count.0.trace.written=5\n"
                    "info count.0.trace.overwritten=3\nsection trace 0\n"),
            "");
}

TEST(Completeness, ARecordingWithoutItsEndIsDamaged) {
  for (const char* ended : {"disk full", "running", "off", "buffer full"}) {
    const auto bytes =
        test_support::trace_from_text(std::string("info ended=") + ended + "\nsection trace 0\n");
    ASSERT_TRUE(bytes);
    post::MemorySource source(*bytes);
    post::DamageLog damage;
    const auto file = read_layout(source, damage);
    ASSERT_TRUE(file);
    const std::string text = ended;
    EXPECT_EQ(is_damaged(*file, damage), text == "disk full" || text == "running") << ended;
  }
}

TEST(Completeness, EveryLossReasonIsReported) {
  for (const char* reason : {"full", "stopped", "too_long", "source"})
    EXPECT_EQ(missing(std::string("info count.1.trace.produced=4\ninfo count.1.trace.") + reason +
                      "=4\n" + counted),
              "4 records were lost")
        << reason;
}

TEST(Completeness, MissedHooksAreReported) {
  EXPECT_EQ(missing(std::string("info missed.task_rename=2\n") + counted),
            "2 hits of hooks were missed");
}

TEST(Completeness, AFullBufferIsReported) {
  EXPECT_EQ(missing("info count.0.trace.produced=0\ninfo count.0.trace.written=0\n"
                    "section trace 0 flags=1\n"),
            "recording ended early in a full buffer");
}

TEST(Completeness, MissingCountsAreReported) {
  EXPECT_NE(missing("section trace 0\n").find("does not contain"), std::string::npos);
}

}  // namespace
