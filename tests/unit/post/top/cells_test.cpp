// SPDX-License-Identifier: MIT
// Text in cells of a terminal: wide, combining and unprintable characters.
#include <gtest/gtest.h>
#include <locale.h>
#include <top/cells.h>

namespace {

using namespace post::top;

class CellsTest : public testing::Test {
 protected:
  CellsTest() { EXPECT_NE(::setlocale(LC_CTYPE, "C.UTF-8"), nullptr); }
  ~CellsTest() override { ::setlocale(LC_CTYPE, "C"); }
};

const std::string wide = "中文";         // two characters of two cells
const std::string combined = "e\u0301";  // one cell

TEST_F(CellsTest, AWideCharacterTakesTwoCellsACombiningOneNone) {
  EXPECT_EQ(cells_of("abc"), 3u);
  EXPECT_EQ(cells_of(wide), 4u);
  EXPECT_EQ(cells_of(combined), 1u);
  EXPECT_EQ(cells_of("…"), 1u);
}

TEST_F(CellsTest, NoTextIsCutWithinACharacter) {
  EXPECT_EQ(cut_to("abcdef", 6, "…"), "abcdef");
  EXPECT_EQ(cut_to("abcdef", 4, "…"), "abc…");
  EXPECT_EQ(cut_to("abcdef", 4, "..."), "a...");
  EXPECT_EQ(cut_to("abcdef", 2, "..."), "ab");
  EXPECT_EQ(cut_to(wide, 3, "…"), "中…");
  EXPECT_EQ(cut_to(wide, 1, ""), "");
  EXPECT_EQ(cut_to(combined + combined, 1, ""), combined);
}

TEST_F(CellsTest, ShorteningKeepsBothEnds) {
  EXPECT_EQ(squeezed("abcdef", 6, "…"), "abcdef");
  EXPECT_EQ(squeezed("abcdef", 5, "…"), "ab…ef");
  EXPECT_EQ(squeezed("abcdef", 4, "…"), "ab…f");
  EXPECT_EQ(squeezed(wide + wide, 6, "…"), "中…文");
  EXPECT_EQ(squeezed("abc" + combined, 3, "…"), "a…" + combined);
}

TEST_F(CellsTest, BlanksFillCells) {
  EXPECT_EQ(filled(wide, 6), wide + "  ");
  EXPECT_EQ(filled("abc", 2), "abc");
}

TEST_F(CellsTest, ControlCharactersAreEscaped) {
  EXPECT_EQ(showable("a\033[2J\tb\xff", true), "a\\x1b[2J\\x09b\\xff");
  EXPECT_EQ(showable("\u202e" + wide, true), "\\xe2\\x80\\xae" + wide);
  EXPECT_EQ(showable("\u0378", true), "\\xcd\\xb8");  // no such character
  EXPECT_EQ(showable("é", false), "\\xc3\\xa9");
}

TEST_F(CellsTest, WithoutUtf8TheTextIsAscii) {
  ::setlocale(LC_CTYPE, "C");
  EXPECT_EQ(cells_of(showable(wide, false)), 24u);
}

}  // namespace
