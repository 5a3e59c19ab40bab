// SPDX-License-Identifier: MIT
// Wrapped sentences, parsed numbers.
#include <gtest/gtest.h>

#include "text/text.h"
#include "text_file.h"

namespace {

using post::parse_number;
using post::wrapped;

TEST(Wrapped, BreaksBetweenWordsBelowTheFirstColumn) {
  EXPECT_EQ(wrapped(" A : ", "one two three", 12), " A : one two\n     three\n");
  EXPECT_EQ(wrapped(" A : ", "", 12), " A : \n");
}

TEST(Wrapped, NeverSplitsAWord) {
  EXPECT_EQ(wrapped("> ", "/a/very/long/path x", 8), "> /a/very/long/path\n  x\n");
}

TEST(ParseNumber, AcceptsWholeDecimalNumbersOnly) {
  uint64_t value = 7;
  EXPECT_TRUE(parse_number("18446744073709551615", value));
  EXPECT_EQ(value, 18446744073709551615ull);
  value = 7;
  for (const char* text : {"", "-1", "+1", "1x", " 1", "18446744073709551616", "0x10"})
    EXPECT_FALSE(parse_number(text, value)) << text;
  EXPECT_EQ(value, 7u);
}

TEST(Text, APercentageIsWholeAndInRange) {
  EXPECT_EQ(post::percent_from("0"), 0.0);
  EXPECT_EQ(post::percent_from("12.5"), 12.5);
  EXPECT_EQ(post::percent_from("100"), 100.0);
  for (const char* wrong :
       {"", " 1", "1 ", "1%", "-1", "100.1", "nan", "inf", "1e999", "0x1", "+1"})
    EXPECT_FALSE(post::percent_from(wrong)) << wrong;
}

TEST(Text, CommentsBeginAtLineStartOrAfterABlank) {
  const auto lines = pi::meaningful_lines("# no\n a#b \r\n\n\tc d # e\n#\nf");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].text, "a#b");
  EXPECT_EQ(lines[0].number, 2u);
  EXPECT_EQ(lines[1].text, "c d");
  EXPECT_EQ(lines[1].number, 4u);
  EXPECT_EQ(lines[2].text, "f");
  EXPECT_EQ(lines[2].number, 6u);
}

TEST(DurationText, HasThreeDigitsOrSoInAFittingUnit) {
  const std::pair<uint64_t, const char*> cases[] = {{0, "0 s"},
                                                    {1, "1 us"},
                                                    {999'499, "999 us"},
                                                    {999'500, "1.0 ms"},
                                                    {9'949'999, "9.9 ms"},
                                                    {9'950'000, "10 ms"},
                                                    {213'400'000, "213 ms"},
                                                    {999'499'999, "999 ms"},
                                                    {999'500'000, "1.00 s"},
                                                    {5'210'000'000, "5.21 s"},
                                                    {9'995'000'000, "10.0 s"},
                                                    {59'949'999'999, "59.9 s"},
                                                    {59'950'000'000, "1 min 00 s"},
                                                    {192'000'000'000, "3 min 12 s"},
                                                    {3'599'400'000'000, "59 min 59 s"},
                                                    {3'599'500'000'000, "1 h 00 min"},
                                                    {86'400'000'000'000, "24 h 00 min"}};
  for (const auto& [time, text] : cases) EXPECT_EQ(post::duration_text(time), text);
}

}  // namespace
