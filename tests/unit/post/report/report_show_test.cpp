// SPDX-License-Identifier: MIT
// post.show with extreme records; its lines are compared in the golden tests.
#include <gtest/gtest.h>
#include <report/report_show.h>

#include <algorithm>

#include "post_run.h"

namespace {

using namespace test_support;

TEST(ReportShow, LongestRecordsFitTheBufferInEveryForm) {
  Bytes records;
  const uint32_t no_ints = 0;
  for (int i = 0; i < 40; ++i) {
    Bytes record(PITRACE_LENGTH_MASK);
    const uint32_t length = static_cast<uint32_t>(record.size()) - 12 - 8;
    const std::string text(length, '\xff');
    pitrace_encode_string(record.data(), 1, 0x77, 0xffffffff, &no_ints, 0, text.data(), length);
    records.insert(records.end(), record.begin(), record.end());
  }
  TraceBuilder trace;
  trace.section(pi::nrm2::section_trace, {}, records);
  FakeSymbolizer symbolizer;
  post::Options options;
  options.show_raw = true;
  const std::string show = run_post(trace.bytes(), symbolizer, options).show;
  EXPECT_EQ(std::count(show.begin(), show.end(), '\n'), 1 + 2 * 40);
  EXPECT_GT(show.size(), 40u * (65512 * 4 + 65532 / 4 * 9));
}

class FailingSink final : public post::Sink {
 public:
  bool write(std::string_view) override { return false; }
};

TEST(ReportShow, ReportsAWriteFailure) {
  FailingSink sink;
  post::ShowReport show(sink, false);
  EXPECT_FALSE(show.finish());
  EXPECT_FALSE(show.good());
}

}  // namespace
