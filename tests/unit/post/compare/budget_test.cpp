// SPDX-License-Identifier: MIT
// The file of limits: parsing, errors, and comparison with a profile.
#include <gtest/gtest.h>

#include "compare/budget.h"

namespace {

using post::Level;
using post::Limit;
using post::parse_budget;

std::string problem(const std::string& text) {
  const auto limits = parse_budget(text, "b");
  return limits ? "" : limits.error().message;
}

Limit only(const std::string& text) {
  const auto limits = parse_budget(text, "b");
  EXPECT_TRUE(limits) << limits.error().message;
  EXPECT_EQ(limits ? (*limits).size() : 0, 1u);
  return limits ? (*limits)[0] : Limit{};
}

TEST(Budget, NamesMayContainBlanksAndHashes) {
  const Limit limit = only("process  Web Content#2   12.5%  # why\r\n");
  EXPECT_EQ(limit.level, Level::process);
  EXPECT_EQ(limit.name, "Web Content#2");
  EXPECT_EQ(limit.percent, 12.5);
}

TEST(Budget, APercentSignIsOptionalAndMayFollowABlank) {
  for (const char* text : {"module libx 12.5%", "module libx 12.5 %", "module libx 12.5",
                           "module  libx\t12.5 \t%  # why"}) {
    const Limit limit = only(text);
    EXPECT_EQ(limit.name, "libx") << text;
    EXPECT_EQ(limit.percent, 12.5) << text;
  }
  EXPECT_EQ(only("process java 17 50 %").name, "java 17");
}

TEST(Budget, TheModuleFollowsTheLastSingleColon) {
  for (const auto& [text, name, module] :
       {std::tuple{"symbol f:libx.so 1%", "f", "libx.so"},
        {"symbol f 1%", "f", ""},
        {"symbol ns::f 1%", "ns::f", ""},
        {"symbol ns::f(a::b):/lib/x 1%", "ns::f(a::b)", "/lib/x"},
        {"symbol ::f 1%", "::f", ""},
        {"symbol f: 1%", "f:", ""},
        {"symbol :f 1%", ":f", ""}}) {
    const Limit limit = only(text);
    EXPECT_EQ(limit.name, name) << text;
    EXPECT_EQ(limit.module, module) << text;
  }
}

TEST(Budget, InvalidLinesAreReportedWithTheirNumber) {
  EXPECT_EQ(problem("# a\n\nmodule x ten\n").substr(0, 4), "b:3:");
  for (const char* wrong :
       {"module", "module 10%", "module  10%", "modul x 10%", "module x -1%", "module x 101%",
        "module x nan%", "module x inf%", "module x %", "module x 1e999%", "module x 0x10%",
        "module x 10%%", "module x 1,5", "module x y %", "%", "\xff\xfe 1%", "thread x 10%"})
    EXPECT_TRUE(problem(wrong).starts_with("b:1: ")) << wrong << ": " << problem(wrong);
  EXPECT_EQ(problem("\x1b[2J x 10%"), "b:1: '\\x1b[2J' is neither process, module nor symbol.");
}

TEST(Budget, DuplicateLimitsAreReportedWithBothLines) {
  EXPECT_EQ(problem("symbol f:x 1%\nsymbol f 1%\nsymbol f:x 2%"),
            "b:3: symbol f:x has a limit in line 1 already.");
}

TEST(Budget, AFileWithoutLimitsIsRefused) {
  EXPECT_NE(problem(""), "");
  EXPECT_NE(problem("# nothing\n"), "");
}

TEST(Budget, AShareEqualToTheLimitIsAllowed) {
  post::Profile profile;
  profile.ticks = 3000;
  profile.rows = {{"p", "/m", "s", 3}, {"q", "/n", "s", 2997}};
  const auto limits = parse_budget("module m 0.1%\nmodule n 99.8%\nsymbol s 100%\n", "b");
  ASSERT_TRUE(limits);
  const auto results = measure(*limits, profile);
  EXPECT_FALSE(results[0].exceeded());
  EXPECT_TRUE(results[1].exceeded());
  EXPECT_FALSE(results[2].exceeded());
  EXPECT_EQ(results[2].ticks, 3000u);
}

}  // namespace
