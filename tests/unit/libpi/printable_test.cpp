// SPDX-License-Identifier: MIT
// Text made harmless for a terminal.
#include <gtest/gtest.h>

#include <pi/printable.h>

namespace {

using pi::printable;

TEST(Printable, EscapesCharactersThatHideOrReverseText) {
  EXPECT_EQ(printable("a\u202egnp.exe"), "a\\xe2\\x80\\xaegnp.exe");
  for (const char* text : {"\u200b", "\u200f", "\u2028", "\u2066", "\ufeff", "\u034f", "\u3164",
                           "\ufe0f", "\U000e0041"})
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

TEST(Printable, KeepsTheControlCharactersThatTheCallerNames) {
  EXPECT_EQ(printable("a\n\tb\x1b\r", "\n\t"), "a\n\tb\\x1b\\x0d");
}

}  // namespace
