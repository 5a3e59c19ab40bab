// SPDX-License-Identifier: MIT
// The list of live blocks, compared with a std::unordered_map.
#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

#include "blocks.h"

namespace {

using pi::heapit::Block;
using pi::heapit::Blocks;

constexpr uint64_t much = uint64_t{1} << 30;

const void* address(uint64_t number) {
  return reinterpret_cast<const void*>(number * 16);
}

TEST(HeapitBlocks, EqualAMapAfterRandomPutsAndTakes) {
  Blocks blocks(much);
  std::unordered_map<uint64_t, uint64_t> model;
  std::mt19937_64 random(19);
  for (uint64_t i = 1; i <= 400'000; ++i) {
    const uint64_t number = 1 + random() % 30'000;
    if (random() % 2 == 0) {
      const auto put = blocks.put(address(number), {i, nullptr});
      ASSERT_TRUE(put.stored);
      const auto known = model.find(number);
      ASSERT_EQ(put.replaced.has_value(), known != model.end());
      if (put.replaced) {
        ASSERT_EQ(put.replaced->bytes, known->second);
      }
      model[number] = i;
    } else {
      const auto taken = blocks.take(address(number));
      const auto known = model.find(number);
      ASSERT_EQ(taken.has_value(), known != model.end());
      if (!taken) continue;
      ASSERT_EQ(taken->bytes, known->second);
      model.erase(known);
    }
  }
  for (const auto& [number, bytes] : model) {
    const auto taken = blocks.take(address(number));
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->bytes, bytes);
  }
}

TEST(HeapitBlocks, WithoutMemoryNewOnesAreRefusedAndKnownOnesStay) {
  Blocks blocks(1 << 20);
  std::vector<uint64_t> stored;
  for (uint64_t number = 1; number <= 200'000; ++number)
    if (blocks.put(address(number), {number, nullptr}).stored) stored.push_back(number);
  EXPECT_GT(stored.size(), 20'000u);
  EXPECT_LT(stored.size(), (1u << 20) / 24);
  for (const uint64_t number : stored) {
    const auto taken = blocks.take(address(number));
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->bytes, number);
  }
  EXPECT_TRUE(blocks.put(address(1), {1, nullptr}).stored);
}

TEST(HeapitBlocks, ThreadsPutAndTakeAtTheSameTime) {
  Blocks blocks(much);
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 4; ++thread)
    threads.emplace_back([&blocks, thread] {
      for (int round = 0; round < 20; ++round) {
        for (uint64_t i = 1; i <= 1000; ++i) blocks.put(address(thread * 1000 + i), {i, nullptr});
        for (uint64_t i = 1; i <= 1000; ++i) {
          const auto taken = blocks.take(address(thread * 1000 + i));
          EXPECT_TRUE(taken && taken->bytes == i);
        }
      }
    });
  for (auto& thread : threads) thread.join();
}

}  // namespace
