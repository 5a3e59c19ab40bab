// SPDX-License-Identifier: MIT
// Traces from text equal those of the builders, and errors contain the line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text_trace.h"

namespace {

using namespace test_support;

TEST(TextTrace, EqualsTheOutputOfTheBuilders) {
  RecordBuilder names;
  names.name(5, 0x20, "a b").module(6, {0x20, 0, 0x1000, 0x200, 0x30, 0}, "/bin/a");
  RecordBuilder ticks(false);
  ticks.tick(7, false, 0x20, 0x21, 0xffffffff81000000);
  TraceBuilder trace;
  trace.section(pi::nrm2::section_mte, {.cpu = 1, .cpus = 2}, names.bytes())
      .section(pi::nrm2::section_trace,
               {.cpu = 1, .start_time = 9, .cpus = 2, .flags = 1, .lost = 3}, ticks.bytes())
      .text(pi::nrm2::section_info, "source=perf\nrate=10\n");
  const auto bytes = trace_from_text(
      "# comment\ncpus 2\ninfo source=perf\nsection mte 1\n5 name 0x20 a\\x20b\n"
      "6 module 0x20 0x1000 0x200 0x30 /bin/a\n\nsection trace 1 no-time start=9 flags=1 lost=3\n"
      "7 tick kernel 0x20 33 0xffffffff81000000\ninfo rate=10\n");
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_EQ(*bytes, trace.bytes());
}

TEST(TextTrace, ReportsTheInvalidLine) {
  for (const char* wrong :
       {"5 tick user 1 1 1", "section nothing 0", "section trace", "section trace 0\n5 sneeze 1 2",
        "section trace 0\n5 tick x 1 1 1", "section trace 0\n5x tick user 1 1 1"}) {
    const auto bytes = trace_from_text(wrong);
    ASSERT_FALSE(bytes) << wrong;
    EXPECT_THAT(bytes.error().message, testing::StartsWith("line ")) << wrong;
  }
}

}  // namespace
