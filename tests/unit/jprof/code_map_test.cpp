// SPDX-License-Identifier: MIT
// Which code events are new and which repeat known code (answers of GenerateEvents).
#include "code_map.h"

#include <gtest/gtest.h>

namespace pi::jprof {
namespace {

TEST(CodeMap, KnownCodeIsNotReportedAgain) {
  CodeMap map;
  map.add(0x1000, 0x100, "a", 10);
  EXPECT_FALSE(map.add_existing(0x1000, 0x100, "a", 20, 21));
  EXPECT_TRUE(map.add_existing(0x2000, 0x100, "b", 20, 22));
  EXPECT_FALSE(map.add_existing(0x2000, 0x100, "b", 30, 31));
  EXPECT_EQ(map.size(), 2u);
}

TEST(CodeMap, LaterRequestedCodeReplacesOlderCodeAtTheSameAddress) {
  CodeMap map;
  map.add(0x1000, 0x100, "a", 10);
  EXPECT_TRUE(map.add_existing(0x1000, 0x100, "b", 20, 21));
  EXPECT_TRUE(map.add_existing(0x1080, 0x100, "c", 30, 31));
  EXPECT_EQ(map.size(), 1u);
}

TEST(CodeMap, ALoadEventAfterItsRequestedDuplicateIsNotReported) {
  CodeMap map;
  EXPECT_TRUE(map.add_existing(0x1000, 0x100, "a", 20, 21));
  EXPECT_FALSE(map.add(0x1000, 0x100, "a", 22));
  EXPECT_TRUE(map.add(0x1000, 0x100, "b", 23));
  EXPECT_TRUE(map.add(0x1000, 0x80, "b", 24));
  map.remove(0x1000, 25);
  EXPECT_TRUE(map.add(0x1000, 0x80, "b", 26));
}

TEST(CodeMap, AShorterNameForTheSameCodeIsNotReported) {
  CodeMap map;
  map.add(0x1000, 0x100, "adapters(0xbb)", 10);
  EXPECT_FALSE(map.add_existing(0x1000, 0x100, "adapters", 20, 21));
  EXPECT_TRUE(map.add_existing(0x1000, 0x100, "adapters(0xbbe)", 30, 31));
}

TEST(CodeMap, AnOlderRequestDoesNotReplaceNewerCode) {
  CodeMap map;
  map.add(0x1080, 0x100, "new", 25);
  EXPECT_FALSE(map.add_existing(0x1000, 0x100, "old", 20, 26));
  EXPECT_FALSE(map.add_existing(0x1100, 0x100, "old", 20, 26));
  EXPECT_TRUE(map.add_existing(0x1000, 0x80, "adjacent", 20, 26));
  EXPECT_TRUE(map.add_existing(0x1180, 0x80, "adjacent", 20, 26));
}

TEST(CodeMap, EveryOverlappedEntryIsChecked) {
  CodeMap map;
  map.add(0x1000, 0x100, "old", 10);
  map.add(0x1100, 0x100, "new", 25);
  EXPECT_FALSE(map.add_existing(0x1080, 0x200, "x", 20, 26));
}

TEST(CodeMap, NewCodeReplacesAllOverlappedCode) {
  CodeMap map;
  map.add(0x1000, 0x100, "a", 1);
  map.add(0x1100, 0x100, "b", 2);
  map.add(0x1200, 0x100, "c", 3);
  map.add(0x10ff, 0x102, "d", 4);
  EXPECT_EQ(map.size(), 1u);
}

TEST(CodeMap, AnOlderUnloadDoesNotRemoveNewerCode) {
  CodeMap map;
  map.add(0x1000, 0x100, "a", 10);
  map.remove(0x1000, 9);
  EXPECT_EQ(map.size(), 1u);
  map.remove(0x1040, 20);
  EXPECT_EQ(map.size(), 1u);
  map.remove(0x1000, 20);
  EXPECT_EQ(map.size(), 0u);
  map.remove(0x1000, 21);
}

TEST(CodeMap, ZeroSizesAndAddressOverflowAreHarmless) {
  CodeMap map;
  map.add(0x1000, 0, "a", 10);
  map.add(0x1000, 0, "b", 11);
  EXPECT_TRUE(map.add_existing(0x1000, 0x10, "c", 20, 21));
  map.add(~0ull - 1, 0xffffffff, "top", 30);
  map.add(~0ull, 1, "end", 31);
}

}  // namespace
}  // namespace pi::jprof
