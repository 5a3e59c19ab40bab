// SPDX-License-Identifier: MIT
// SourceIndexBuilder::used() is a tight upper bound of the memory that it needs.
#include "dwarf/source_index.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "heap.h"

namespace {

using a2n::SourceIndexBuilder;
using test_support::HeapPeak;

class SourceIndexMemory : public testing::Test {
 protected:
  // Expects used() to be at least the peak memory, and at most twice as much.
  static void expect_counted(const std::function<void(SourceIndexBuilder&, uint32_t)>& add) {
    const HeapPeak peak;
    SourceIndexBuilder builder;
    // Slightly more than a power of two: the vectors have just grown.
    for (uint32_t i = 0; i < (1u << 18) + 10; ++i) add(builder, i);
    const uint64_t estimate = builder.used();
    const auto index = builder.build();
    // malloc rounds each large block up to whole pages.
    constexpr uint64_t rounding = uint64_t{64} << 10;
    EXPECT_GE(estimate + rounding, peak.bytes());
    EXPECT_LE(estimate, 2 * peak.bytes());
    EXPECT_TRUE(!index.save().empty());
  }
};

TEST_F(SourceIndexMemory, MemoryOfRowsIsCounted) {
  expect_counted([](SourceIndexBuilder& builder, uint32_t i) { builder.add_row(i, 0, i + 1); });
}

TEST_F(SourceIndexMemory, MemoryOfTextsIsCounted) {
  expect_counted([](SourceIndexBuilder& builder, uint32_t i) { builder.text(std::to_string(i)); });
  expect_counted([](SourceIndexBuilder& builder, uint32_t i) {
    builder.text("a name that is longer than a small one " + std::to_string(i));
  });
}

TEST_F(SourceIndexMemory, MemoryOfInlinedFunctionsIsCounted) {
  // Nested ranges: each has two pieces.
  expect_counted([](SourceIndexBuilder& builder, uint32_t i) {
    const uint32_t node = builder.add_node(SourceIndexBuilder::none, 0, 0, 0);
    builder.add_range(i, (1u << 20) - i, node, i);
  });
  expect_counted([](SourceIndexBuilder& builder, uint32_t i) {
    builder.add_range(2 * i, 2 * i + 1, builder.add_node(SourceIndexBuilder::none, 0, 0, 0), 0);
  });
}

}  // namespace
