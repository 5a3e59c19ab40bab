// SPDX-License-Identifier: MIT
// Width, shortening, padding and wrapping of text for a terminal.
#include <gtest/gtest.h>
#include <text/columns.h>

namespace {

using namespace post;

TEST(Columns, ACharacterIsOneColumnWhateverItsBytes) {
  EXPECT_EQ(columns_of(""), 0u);
  EXPECT_EQ(columns_of("abc"), 3u);
  EXPECT_EQ(columns_of("Größe…"), 6u);
}

TEST(Columns, ALongTextKeepsBothEnds) {
  EXPECT_EQ(shortened("abcdefghij", 10, "..."), "abcdefghij");
  EXPECT_EQ(shortened("abcdefghij", 8, "..."), "abc...ij");
  EXPECT_EQ(shortened("abcdefghij", 5, "…"), "ab…ij");
  EXPECT_EQ(shortened("äöüßäöüß", 5, "…"), "äö…üß");
  EXPECT_EQ(shortened("abcdefghij", 4, "..."), "a...");
  EXPECT_EQ(shortened("abcdefghij", 3, "..."), "abc");
  EXPECT_EQ(shortened("abcdefghij", 0, "..."), "");
}

TEST(Columns, PaddingCountsCharacters) {
  EXPECT_EQ(padded("ä", 3), "ä  ");
  EXPECT_EQ(padded("abcd", 3), "abcd");
}

TEST(Columns, WithoutUtf8OtherBytesAreWrittenAsNumbers) {
  EXPECT_EQ(ascii_text("a…b"), "a\\xe2\\x80\\xa6b");
}

}  // namespace
