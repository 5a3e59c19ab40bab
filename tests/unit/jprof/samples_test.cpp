// SPDX-License-Identifier: MIT
// Samples in buffers and in trees: nothing is lost without being counted, and trees have their
// order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "scs/sample_buffers.h"
#include "scs/sample_trees.h"

namespace pi::jprof {
namespace {

using testing::ElementsAre;

// A sample whose frames and captured words are made of its thread and number.
bool record(SampleBuffers& buffers, uint32_t tid, uint64_t number, int32_t depth,
            size_t captured = 0) {
  return buffers.record(
      tid, 1,
      [&](void* frames) {
        for (int32_t i = 0; i < depth; ++i)
          static_cast<uint64_t*>(frames)[i] = uint64_t{tid} << 32 | (number + uint64_t(i));
        return depth;
      },
      [](const void* frames, size_t i) { return static_cast<const uint64_t*>(frames)[i]; },
      [&](uint64_t* words) {
        for (size_t i = 0; i < captured; ++i) words[i] = uint64_t{tid} << 40 | (number + i);
        return captured;
      });
}

TEST(SampleBuffers, ReturnWhatWasRecorded) {
  SampleBuffers buffers;
  ASSERT_TRUE(buffers.open(8, sizeof(uint64_t), 4));
  EXPECT_TRUE(record(buffers, 5, 40, 3));
  EXPECT_TRUE(record(buffers, 5, 7, -2, 2));
  std::vector<int32_t> outcomes;
  std::vector<uint64_t> methods, captured;
  buffers.drain([&](const Sample& sample) {
    EXPECT_EQ(sample.tid, 5U);
    EXPECT_EQ(sample.periods, 1U);
    outcomes.push_back(sample.outcome);
    methods.insert(methods.end(), sample.methods.begin(), sample.methods.end());
    captured.insert(captured.end(), sample.capture.begin(), sample.capture.end());
  });
  EXPECT_THAT(outcomes, ElementsAre(3, -2));
  EXPECT_THAT(methods, ElementsAre(5UL << 32 | 40, 5UL << 32 | 41, 5UL << 32 | 42));
  EXPECT_THAT(captured, ElementsAre(5UL << 40 | 7, 5UL << 40 | 8));
  buffers.drain([](const Sample&) { FAIL(); });
}

TEST(SampleBuffers, CountWhatFindsNoSpace) {
  SampleBuffers buffers;
  ASSERT_TRUE(buffers.open(1024, sizeof(uint64_t), 0));
  uint64_t stored = 0;
  // One thread always finds the same buffer.
  for (int i = 0; i < 1000; ++i) stored += record(buffers, 1, 0, 1000) ? 1 : 0;
  EXPECT_EQ(stored, SampleBuffers::ring_words / 1002);
  EXPECT_EQ(buffers.take_lost(), 1000 - stored);
  EXPECT_EQ(buffers.take_lost(), 0U);
}

TEST(SampleBuffers, ManyThreadsLoseNothingUncountedAndMixNothing) {
  constexpr uint32_t threads = 24;
  constexpr uint64_t each = 20'000;
  SampleBuffers buffers;
  ASSERT_TRUE(buffers.open(16, sizeof(uint64_t), 8));
  std::atomic<uint32_t> running = threads;
  std::vector<std::thread> all;
  for (uint32_t tid = 1; tid <= threads; ++tid)
    all.emplace_back([&, tid] {
      for (uint64_t i = 0; i < each; ++i)
        record(buffers, tid, i, static_cast<int32_t>(i % 12), i % 9);
      --running;
    });
  uint64_t found = 0, wrong = 0;
  const auto drain = [&] {
    buffers.drain([&](const Sample& sample) {
      ++found;
      for (size_t i = 0; i < sample.methods.size(); ++i)
        if (sample.methods[i] != sample.methods[0] + i || sample.methods[i] >> 32 != sample.tid)
          ++wrong;
      for (size_t i = 0; i < sample.capture.size(); ++i)
        if (sample.capture[i] != sample.capture[0] + i || sample.capture[i] >> 40 != sample.tid)
          ++wrong;
    });
  };
  while (running > 0) drain();
  for (auto& thread : all) thread.join();
  drain();
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(found + buffers.take_lost(), threads * each);
}

struct Line {
  uint32_t level;
  uint64_t method;
  int64_t value;
  bool operator==(const Line&) const = default;
};

std::vector<Line> lines(const callflow::TreeCopy& tree) {
  std::vector<Line> all;
  for (const auto& node : tree.nodes) {
    if (node.level > 0) {
      EXPECT_EQ(tree.nodes[node.parent].level + 1, node.level);
    }
    all.push_back({node.level, node.method, node.base[0]});
  }
  return all;
}

TEST(SampleTrees, AreDepthFirstWithCalleesInTheOrderOfTheirFirstSample) {
  SampleTrees trees;
  trees.add(9, std::vector<uint32_t>{3, 2, 1}, {1});
  trees.add(9, std::vector<uint32_t>{4, 1}, {2});
  trees.add(9, std::vector<uint32_t>{3, 2, 1}, {4});
  trees.add(9, std::vector<uint32_t>{5, 2, 1}, {8});
  trees.add(9, {}, {16});
  trees.add(9, std::vector<uint32_t>{6}, {32});
  const auto copies = trees.copy({{9, "nine"}});
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_EQ(copies[0].name, "nine");
  EXPECT_THAT(lines(copies[0]),
              ElementsAre(Line{0, 0, 16}, Line{1, 1, 0}, Line{2, 2, 0}, Line{3, 3, 5},
                          Line{3, 5, 8}, Line{2, 4, 2}, Line{1, 6, 32}));
}

TEST(SampleTrees, NativeFunctionsHaveATypeOfTheirOwn) {
  SampleTrees trees;
  trees.add(9, std::vector<uint32_t>{2 | native_bit, 2}, {1});
  const auto copies = trees.copy({});
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_THAT(lines(copies[0]), ElementsAre(Line{0, 0, 0}, Line{1, 2, 0}, Line{2, 2, 1}));
  EXPECT_FALSE(callflow::is_c(copies[0].nodes[1].type));
  EXPECT_TRUE(callflow::is_c(copies[0].nodes[2].type));
}

TEST(SampleTrees, AThreadIdThatIsUsedAgainIsAnotherThread) {
  SampleTrees trees;
  trees.add(7, {}, {1});
  trees.thread_ends(7, "first");
  trees.add(7, {}, {2});  // taken before its end, counted after it
  trees.thread_starts(7);
  trees.thread_ends(7, "second");
  trees.forget_ended();
  trees.add(7, {}, {4});
  trees.thread_starts(7);
  trees.add(7, {}, {8});
  const auto copies = trees.copy({{7, "third"}});
  ASSERT_EQ(copies.size(), 3U);
  EXPECT_EQ(copies[0].name, "first");
  EXPECT_EQ(copies[0].nodes[0].base[0], 3);
  EXPECT_TRUE(copies[1].ended);
  EXPECT_EQ(copies[1].name, "second");
  EXPECT_EQ(copies[2].name, "third");
  EXPECT_FALSE(copies[2].ended);
}

TEST(SampleTrees, AFullTreeCountsInTheCaller) {
  SampleTrees trees(3);
  trees.add(1, std::vector<uint32_t>{4, 3, 2}, {1});
  trees.add(2, std::vector<uint32_t>{4}, {1});
  EXPECT_EQ(trees.cut(), 2U);
  const auto copies = trees.copy({});
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_THAT(lines(copies[0]), ElementsAre(Line{0, 0, 0}, Line{1, 2, 0}, Line{2, 3, 1}));
  trees.clear();
  EXPECT_EQ(trees.cut(), 0U);
  EXPECT_TRUE(trees.copy({}).empty());
}

}  // namespace
}  // namespace pi::jprof
