// SPDX-License-Identifier: MIT
// Sizes, numbers and durations in arguments of commands.
#include <gtest/gtest.h>

#include "commands.h"

namespace pi::swtrace {
namespace {

TEST(Parse, SizesAreMegabytesWithoutASuffix) {
  EXPECT_EQ(parse_size("3"), 3u << 20);
  EXPECT_EQ(parse_size("64K"), 64u << 10);
  EXPECT_EQ(parse_size("64kb"), 64u << 10);
  EXPECT_EQ(parse_size("12M"), 12u << 20);
  EXPECT_EQ(parse_size("12MB"), 12u << 20);
  EXPECT_EQ(parse_size("4095"), 4095u << 20);
}

TEST(Parse, InvalidAndTooLargeSizesAreRefused) {
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

TEST(Parse, MajorsAreNamesOrNumbers) {
  EXPECT_EQ(parse_major("exception"), 3);
  EXPECT_EQ(parse_major("interrupt"), 4);
  EXPECT_EQ(parse_major("syscall"), 5);
  EXPECT_EQ(parse_major("dispatch"), 0x12);
  EXPECT_EQ(parse_major("switch"), 0x13);
  EXPECT_EQ(parse_major("mte"), 0x19);
  EXPECT_EQ(parse_major("tprof"), 255);
  EXPECT_EQ(parse_major("0x30"), 0x30);
  for (const char* text : {"", "256", "Tprof", "dispatches"}) EXPECT_FALSE(parse_major(text));
}

TEST(Parse, TheTextOfAMajorHasItsNameAndHexadecimalNumber) {
  EXPECT_EQ(major_text(0x12), "dispatch (0x12)");
  EXPECT_EQ(major_text(3), "exception (0x03)");
  EXPECT_EQ(major_text(12), "hooks of programs (0x0c)");
  EXPECT_EQ(major_text(0x10), "ticks without names (0x10)");
  EXPECT_EQ(major_text(0x71), "hooks of programs (0x71)");
  EXPECT_EQ(major_text(255), "tprof (0x10 and 0x19)");
  EXPECT_EQ(major_text(0), "all majors");
}

TEST(Parse, ASimilarCommandDiffersInFewCharacters) {
  EXPECT_EQ(similar_command("onn"), "on");
  EXPECT_EQ(similar_command("enabel"), "enable");
  EXPECT_EQ(similar_command("it-install"), "it_install");
  for (const char* word : {"frobnicate", "", "x", "stop", "tprof"})
    EXPECT_EQ(similar_command(word), "") << word;
}

TEST(Parse, DurationsAreSecondsWithoutASuffix) {
  EXPECT_EQ(parse_duration("90"), 90);
  EXPECT_EQ(parse_duration("90s"), 90);
  EXPECT_EQ(parse_duration("15m"), 900);
  EXPECT_EQ(parse_duration("2h"), 7200);
  EXPECT_EQ(parse_duration("1d"), 86400);
  for (const char* text : {"", "0", "s", "-1", "1w", "1.5h", "367d", "99999999999", "1hh"})
    EXPECT_FALSE(parse_duration(text)) << text;
}

}  // namespace
}  // namespace pi::swtrace
