// SPDX-License-Identifier: MIT
// The file of -x: parsing and errors.
#include <gtest/gtest.h>

#include "options/extra_reports.h"

namespace {

using post::Level;
using post::parse_extra_reports;

std::string problem_of_report(const std::string& text) {
  const auto kinds = parse_extra_reports(text, "x");
  return kinds ? "" : kinds.error().message;
}

TEST(ExtraReports, EachDigitIsALevel) {
  const auto kinds = parse_extra_reports("43 # by symbol\n\n  12345\n", "x");
  ASSERT_TRUE(kinds);
  ASSERT_EQ((*kinds).size(), 2u);
  EXPECT_EQ((*kinds)[0].title, "Symbol_Module");
  EXPECT_EQ((*kinds)[0].levels, (std::vector{Level::symbol, Level::module}));
  EXPECT_EQ((*kinds)[1].title, "Process_Thread_Module_Symbol_Offset");
}

TEST(ExtraReports, InvalidLinesAreReportedWithTheirNumber) {
  for (const char* wrong : {"0", "6", "1 3", "13x", "11", "5", "15", "45", "435", "\xff"})
    EXPECT_TRUE(problem_of_report(std::string("# line\n") + wrong).starts_with("x:2: ")) << wrong;
  EXPECT_NE(problem_of_report(""), "");
  std::string many;
  for (int i = 0; i < 101; ++i) many += "1\n";
  EXPECT_TRUE(problem_of_report(many).starts_with("x:101: ")) << problem_of_report(many);
}

}  // namespace
