// SPDX-License-Identifier: MIT
// Tick counts by path, and the report rows made from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "effort.h"
#include "report/report_rows.h"

namespace {

using namespace post;

TEST(SampleTree, EqualPathsShareOneEntryAlsoAfterGrowing) {
  SampleTree tree;
  constexpr uint64_t count = 20'000;
  for (uint64_t i = 0; i < count; ++i)
    ASSERT_EQ(tree.place({i % 7, i % 11, i, i * 3, i << 40}, Found::symbol), i);
  for (uint64_t i = 0; i < count; ++i) {
    const uint32_t place = tree.place({i % 7, i % 11, i, i * 3, i << 40}, Found::symbol);
    ASSERT_EQ(place, i);
    tree.add_ticks(place, i);
  }
  EXPECT_EQ(tree.leaves().size(), count);
  EXPECT_EQ(tree.leaves()[777].ticks, 777u);
}

TEST(SampleTree, ThreadsOfEqualNamesAreDifferentLeaves) {
  SampleTree tree;
  const ProcessLifetime first, second;
  const Path path{1, 2, 3, 4, 0};
  const Origin origins[] = {
      {nullptr, 1, 1}, {&first, 1, 1}, {&second, 1, 1}, {&first, 1, 2}, {&first, 1, 1, true}};
  for (uint32_t i = 0; i < std::size(origins); ++i)
    EXPECT_EQ(tree.place(path, Found::symbol, origins[i]), i);
  EXPECT_EQ(tree.place(path, Found::symbol, origins[2]), 2u);
}

TEST(SampleTree, ProcessesThatReuseAnIdCostNoMoreThanOthers) {
  SampleTree tree;
  std::vector<ProcessLifetime> lifetimes(50'000);
  const test_support::Effort effort;
  for (const ProcessLifetime& lifetime : lifetimes)
    tree.place({1, 2, 3, 4, 0}, Found::symbol, {&lifetime, 5, 5});
  EXPECT_EQ(tree.leaves().size(), lifetimes.size());
  // One or two; with equal hashes for all of them some hundreds.
  EXPECT_LT(effort.spent(), 30);
}

struct Shown {
  uint32_t depth;
  std::string name;
  uint64_t ticks;
  bool operator==(const Shown&) const = default;
};

class Rows : public testing::Test {
 protected:
  void add(const char* process, const char* module, const char* symbol, uint64_t ticks) {
    tree_.add_ticks(tree_.place({names_.intern(process), names_.intern("t"), names_.intern(module),
                                 names_.intern(symbol), 0},
                                Found::symbol),
                    ticks);
  }
  std::vector<Shown> rows(size_t kind, uint64_t clip) {
    std::vector<Shown> shown;
    for (const Row& row : make_rows(tree_, names_, report_kinds()[kind], clip))
      shown.push_back({row.depth, row_name(row, names_), row.ticks});
    return shown;
  }

  SampleTree tree_;
  StringTable names_;
};

TEST_F(Rows, SiblingsAreSortedByTicksThenName) {
  add("b", "m", "s", 2);
  add("c", "m", "s", 5);
  add("a", "m", "s", 2);
  EXPECT_THAT(rows(0, 0),
              testing::ElementsAre(Shown{0, "c", 5}, Shown{0, "a", 2}, Shown{0, "b", 2}));
}

TEST_F(Rows, ARowsSumIncludesClippedRows) {
  add("a", "m", "s1", 6);
  add("a", "m", "s2", 1);
  add("a", "n", "s1", 2);
  EXPECT_THAT(rows(2, 2),
              testing::ElementsAre(Shown{0, "a", 9}, Shown{1, "m", 7}, Shown{2, "s1", 6},
                                   Shown{1, "n", 2}, Shown{2, "s1", 2}));
}

TEST_F(Rows, SameModuleOfTwoProcessesIsOneRowOfTheModuleReport) {
  add("a", "m", "s", 3);
  add("b", "m", "s", 4);
  EXPECT_THAT(rows(7, 0), testing::ElementsAre(Shown{0, "m", 7}, Shown{1, "s", 7}));
}

}  // namespace
