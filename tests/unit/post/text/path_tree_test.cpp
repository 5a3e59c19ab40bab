// SPDX-License-Identifier: MIT
// Each path has one node, and a node has a larger index than its parent.
#include <gtest/gtest.h>
#include <text/path_tree.h>

#include <map>
#include <random>
#include <vector>

namespace {

using post::PathTree;

TEST(PathTree, EqualPathsShareANodeAndDifferentPathsDoNot) {
  PathTree tree;
  std::mt19937 engine(3);
  const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(engine() % limit); };
  std::map<std::vector<uint32_t>, uint32_t> known;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<uint32_t> path;
    uint32_t place = PathTree::root;
    for (uint32_t depth = below(8) + 1; depth-- > 0;) {
      path.push_back(below(6) == 0 ? 0xffffffff : below(5));
      const uint32_t parent = place;
      place = tree.child(parent, path.back());
      ASSERT_LT(parent, place);
      ASSERT_EQ(tree.node(place).parent, parent);
      ASSERT_EQ(tree.node(place).value, path.back());
      ASSERT_EQ(known.try_emplace(path, place).first->second, place);
    }
  }
  EXPECT_EQ(tree.size(), known.size() + 1);
}

}  // namespace
