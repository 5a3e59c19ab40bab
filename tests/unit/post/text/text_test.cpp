// SPDX-License-Identifier: MIT
// Printable names, wrapped sentences, parsed numbers.
#include <gtest/gtest.h>

#include "text/text.h"
#include "text_file.h"

namespace {

using post::parse_number;
using post::printable;
using post::wrapped;

TEST(Printable, EscapesCharactersThatHideOrReverseText) {
  EXPECT_EQ(printable("a\u202egnp.exe"), "a\\xe2\\x80\\xaegnp.exe");
  for (const char* text : {"\u200b", "\u200f", "\u2028", "\u2066", "\ufeff", "\U000e0041"})
    EXPECT_EQ(printable(text).substr(0, 2), "\\x") << text;
}

TEST(Printable, KeepsAsciiAndUtf8) {
  EXPECT_EQ(printable("kworker/0:1-events"), "kworker/0:1-events");
  EXPECT_EQ(printable("caf\u00e9 \u4e2d \U0001f600"), "caf\u00e9 \u4e2d \U0001f600");
}

TEST(Printable, EscapesControlCharactersAndBrokenUtf8) {
  EXPECT_EQ(printable("a\nb\x1b[2J\x7f"), "a\\x0ab\\x1b[2J\\x7f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xc2\x85"), "\\xc2\\x85");           // a control character of two bytes
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");  // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond Unicode
  EXPECT_EQ(printable("x\xe4\xb8"), "x\\xe4\\xb8");                  // cut off
}

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
