// SPDX-License-Identifier: MIT
// Sizes and numbers as the commands take them.
#include <gtest/gtest.h>

#include "commands.h"

namespace pi::swtrace {
namespace {

TEST(Parse, SizesAreMegabytesUnlessTheySayOtherwise) {
  EXPECT_EQ(parse_size("3"), 3u << 20);
  EXPECT_EQ(parse_size("64K"), 64u << 10);
  EXPECT_EQ(parse_size("64kb"), 64u << 10);
  EXPECT_EQ(parse_size("12M"), 12u << 20);
  EXPECT_EQ(parse_size("12MB"), 12u << 20);
  EXPECT_EQ(parse_size("4095"), 4095u << 20);
}

TEST(Parse, WhatDoesNotFitOrIsNoSizeIsRefused) {
  for (const char* text :
       {"", "0", "-1", "x", "3G", "4096", "4194304K", "1.5", "99999999999999", "K"})
    EXPECT_FALSE(parse_size(text)) << text;
}

TEST(Parse, NumbersAreDecimalOctalOrHexadecimal) {
  EXPECT_EQ(parse_number("16", 255), 16);
  EXPECT_EQ(parse_number("0x10", 255), 16);
  EXPECT_EQ(parse_number("0X1F", 255), 31);
  EXPECT_EQ(parse_number("020", 255), 16);
  EXPECT_EQ(parse_number("0", 255), 0);
  for (const char* text : {"", "256", "-1", "08", "0x", "1x", "99999999999"})
    EXPECT_FALSE(parse_number(text, 255)) << text;
}

}  // namespace
}  // namespace pi::swtrace
