// SPDX-License-Identifier: MIT
// Tests of edit_distance() and similar_word().
#include <pi/similar_word.h>

#include <gtest/gtest.h>

namespace {

TEST(EditDistance, CountsChangedCharacters) {
  EXPECT_EQ(pi::edit_distance("", ""), 0u);
  EXPECT_EQ(pi::edit_distance("", "abc"), 3u);
  EXPECT_EQ(pi::edit_distance("abc", ""), 3u);
  EXPECT_EQ(pi::edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(pi::edit_distance("process", "porcess"), 2u);
}

TEST(SimilarWord, IsTheNearest) {
  EXPECT_EQ(pi::similar_word("onn", {"off", "on", "init"}), "on");
  EXPECT_EQ(pi::similar_word("--procss", {"--process", "--no-process"}), "--process");
}

TEST(SimilarWord, IsEmptyIfTooMuchDiffers) {
  EXPECT_EQ(pi::similar_word("xyz", {"on", "off"}), "");
  EXPECT_EQ(pi::similar_word("anything", {}), "");
}

}  // namespace
