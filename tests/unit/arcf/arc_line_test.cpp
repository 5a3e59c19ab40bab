// SPDX-License-Identifier: MIT
// Parsing of arc lines: post's format, the classic one, and invalid lines.
#include "arc_line.h"

#include <gtest/gtest.h>

#include <string>

namespace {

using arcf::parse_line;
using arcf::Parsed;
using post::ArcLine;
using post::LineType;

TEST(ArcLine, FieldsAreSplitFromBothEndsOfTheLine) {
  ArcLine line;
  ASSERT_EQ(
      parse_line("  0 U 1     2 @   2c foo(int, char):/lib/a b.so 11c1_11c1_java_main CALL 12",
                 line),
      Parsed::line);
  EXPECT_TRUE(line.user);
  EXPECT_EQ(line.type, LineType::call);
  EXPECT_EQ(line.instructions, 2u);
  EXPECT_EQ(line.offset, 0x2cu);
  EXPECT_EQ(line.name, "foo(int, char):/lib/a b.so");
  EXPECT_EQ(line.thread, "11c1_11c1_java_main");
  EXPECT_EQ(line.mark, '@');
}

TEST(ArcLine, RecognisesGapsVectorsAndThreadChanges) {
  ArcLine line;
  ASSERT_EQ(parse_line("0 K 5 7 @ 0 Gap_room:GAP 1_1_a -gap- 0 ns=77", line), Parsed::line);
  EXPECT_EQ(line.type, LineType::gap);
  EXPECT_EQ(line.name, "Gap_room:GAP");
  EXPECT_EQ(line.thread, "1_1_a");
  ASSERT_EQ(parse_line("0 K 0 0 @ 0 Int_0x0e:VECTOR 1_1_a -vec- 0", line), Parsed::line);
  EXPECT_EQ(line.type, LineType::vector);
  ASSERT_EQ(parse_line("0 K 4 0 @ 0 Int_0x0e:VECTOR 1_1_a -vec- 0", line), Parsed::line);
  EXPECT_EQ(line.type, LineType::vector_end);
  ASSERT_EQ(parse_line("0 K 5 0 ? 1 callflow:disp 1_1_a OTHER 0", line), Parsed::line);
  EXPECT_EQ(line.mark, '?');
}

TEST(ArcLine, ClassicFormatHasNumericRingAndNoLineNumber) {
  ArcLine line;
  ASSERT_EQ(parse_line("0 1 2 3 @ 1f main:app 11c1_11c1_app RETURN", line), Parsed::line);
  EXPECT_TRUE(line.user);
  EXPECT_EQ(line.type, LineType::ret);
  EXPECT_EQ(line.name, "main:app");
  EXPECT_EQ(line.thread, "11c1_11c1_app");
}

TEST(ArcLine, CommentsAndInstructionsAreSkipped) {
  ArcLine line;
  for (const char* text : {"", "   ", "# 0 U 1 2 @ 0 a b c 0", " ss: 0x8049a5c 1 push ebp"})
    EXPECT_EQ(parse_line(text, line), Parsed::nothing) << text;
}

TEST(ArcLine, InvalidFieldsAreRefused) {
  ArcLine line;
  const std::string good = "0 U 1 2 @ 2c main:app 1_1_a CALL 12";
  ASSERT_EQ(parse_line(good, line), Parsed::line);
  for (const char* text :
       {"x U 1 2 @ 2c main:app 1_1_a CALL 12", "0 X 1 2 @ 2c main:app 1_1_a CALL 12",
        "0 U 8 2 @ 2c main:app 1_1_a CALL 12", "0 U 1 -2 @ 2c main:app 1_1_a CALL 12",
        "0 U 1 2 ! 2c main:app 1_1_a CALL 12", "0 U 1 2 @ zz main:app 1_1_a CALL 12",
        "0 U 1 99999999999999999999 @ 2c main:app 1_1_a CALL 12", "0 U 1 2 @ 2c CALL 12",
        "0 U 1 2 @ 2c", "0", "0 U 1 2 @"})
    EXPECT_EQ(parse_line(text, line), Parsed::malformed) << text;
  for (size_t size = 0; size < good.size(); ++size) parse_line(good.substr(0, size), line);
}

}  // namespace
