// SPDX-License-Identifier: MIT
// Decoding of a block's code: whether it leads to the block's end, its instructions, and its last
// one.
#include <gtest/gtest.h>

#include <initializer_list>

#include "arc/block_decoder.h"
#include "fake_symbolizer.h"

namespace {

using post::BlockCode;
using post::BlockDecoder;
using post::LineType;

constexpr uint64_t base = 0x400000;

class BlockDecoding : public testing::Test {
 protected:
  BlockCode to_branch(std::initializer_list<int> code, uint64_t start, uint64_t end) {
    set(code);
    return decoder_.to_branch({1, 7, false}, base + start, base + end);
  }
  void set(std::initializer_list<int> code) {
    std::vector<std::byte> bytes;
    for (const int value : code) bytes.push_back(static_cast<std::byte>(value));
    symbolizer_.create(0, 7);
    symbolizer_.add_module(0, {7, 0, base, 0x1000, 0, 0, "/bin/app"});
    symbolizer_.add_code("/bin/app", 0, bytes);
  }

  test_support::FakeSymbolizer symbolizer_;
  post::KernelCode kernel_;
  BlockDecoder decoder_{symbolizer_, kernel_};
};

TEST_F(BlockDecoding, CountsInstructionsUpToTheBranch) {
  const BlockCode block = to_branch({0x55, 0x48, 0x89, 0xe5, 0x74, 0x10, 0xe8, 0, 0, 0, 0}, 0, 6);
  EXPECT_TRUE(block.known);
  EXPECT_TRUE(block.connected);
  EXPECT_FALSE(block.repeats);
  EXPECT_EQ(block.instructions, 4u);
  EXPECT_EQ(block.type, LineType::call);
  EXPECT_EQ(block.target, base + 11);
}

TEST_F(BlockDecoding, EachKindOfBranchHasItsType) {
  EXPECT_EQ(to_branch({0xff, 0xd0}, 0, 0).type, LineType::call);
  EXPECT_EQ(to_branch({0xf3, 0xc3}, 0, 0).type, LineType::ret);
  EXPECT_EQ(to_branch({0x75, 0x00}, 0, 0).type, LineType::jump);
  EXPECT_EQ(to_branch({0xff, 0xe0}, 0, 0).type, LineType::jump);
  EXPECT_EQ(to_branch({0x0f, 0x05}, 0, 0).type, LineType::system_call);
  EXPECT_EQ(to_branch({0xcd, 0x80}, 0, 0).type, LineType::interrupt);
  EXPECT_EQ(to_branch({0x48, 0xcf}, 0, 0).type, LineType::iret);
  EXPECT_EQ(to_branch({0x48, 0x0f, 0x07}, 0, 0).type, LineType::iret);
}

TEST_F(BlockDecoding, IsNotConnectedAcrossReturnsAndUnconditionalJumps) {
  for (const int leaves : {0xc3, 0xcc}) {
    const BlockCode block = to_branch({0x90, leaves, 0x90, 0xc3}, 0, 3);
    EXPECT_TRUE(block.known);
    EXPECT_FALSE(block.connected) << leaves;
    EXPECT_EQ(block.type, LineType::ret);
  }
  EXPECT_FALSE(to_branch({0xeb, 0x00, 0xc3}, 0, 2).connected);
}

TEST_F(BlockDecoding, IsNotConnectedIntoTheMiddleOfAnInstruction) {
  EXPECT_FALSE(to_branch({0xb8, 0x90, 0x90, 0x90, 0xc3, 0xc3}, 0, 4).connected);
  EXPECT_TRUE(to_branch({0xb8, 0x90, 0x90, 0x90, 0xc3, 0xc3}, 0, 5).connected);
}

TEST_F(BlockDecoding, ABlockThatEndsBeforeItBeginsIsNotConnected) {
  const BlockCode block = to_branch({0xc3, 0x90, 0xc3}, 1, 0);
  EXPECT_TRUE(block.known);
  EXPECT_FALSE(block.connected);
}

TEST_F(BlockDecoding, ABlockWithoutBranchHasNoType) {
  const BlockCode block = to_branch({0x90, 0x90}, 0, 1);
  EXPECT_TRUE(block.known);
  EXPECT_EQ(block.type, LineType::undefined);
  EXPECT_FALSE(block.connected);
}

TEST_F(BlockDecoding, WithoutCodeNothingIsKnown) {
  EXPECT_FALSE(to_branch({0x90}, 0, 1).known);
  EXPECT_FALSE(decoder_.to_branch({1, 7, false}, 0xffffffff81000000, 0xffffffff81000002).known);
  EXPECT_FALSE(decoder_.to_branch({1, 7, false}, 0, UINT64_MAX).known);
  EXPECT_FALSE(decoder_.to_cut({1, 7, false}, UINT64_MAX, 0).known);
}

TEST_F(BlockDecoding, DetectsRepeatingInstructions) {
  const BlockCode block = to_branch({0xf3, 0xa4, 0xc3}, 0, 2);
  EXPECT_TRUE(block.connected);
  EXPECT_TRUE(block.repeats);
  EXPECT_EQ(block.instructions, 2u);
  // The block was cut before the end of its iterations.
  EXPECT_TRUE(decoder_.to_cut({1, 7, false}, base, base).repeats);
}

TEST_F(BlockDecoding, FollowsTheGivenNumberOfInstructions) {
  set({0x90, 0x90, 0x0f, 0x05, 0x90, 0xf3, 0xa4});
  const BlockCode block = decoder_.by_count({1, 7, false}, base, 3);
  EXPECT_TRUE(block.connected);
  EXPECT_EQ(block.type, LineType::system_call);
  EXPECT_FALSE(decoder_.by_count({1, 7, false}, base, 4).connected);
  EXPECT_FALSE(decoder_.by_count({1, 7, false}, base + 4, 2).connected);
  EXPECT_FALSE(decoder_.by_count({1, 7, false}, base, 0xffffffff).connected);
}

TEST_F(BlockDecoding, Decodes32BitCode) {
  set({0x48, 0xc3});  // dec eax; ret
  EXPECT_EQ(decoder_.to_branch({1, 7, true}, base, base + 1).instructions, 2u);
}

// The kernel-code sections of a trace.
class KernelCodeSections : public testing::Test {
 protected:
  void load(const std::vector<uint64_t>& words, size_t bytes) {
    const std::span all = std::as_bytes(std::span(words));
    post::MemorySource source(all);
    code_.load(source, {{0, bytes, false}}, damage_);
  }
  size_t read(uint64_t address, size_t room) {
    std::vector<std::byte> out(room);
    return code_.read(address, out);
  }
  post::KernelCode code_;
  post::DamageLog damage_;
};

TEST_F(KernelCodeSections, AdjacentRangesAreReadAsOne) {
  load({0xffffffff81000000, 8, 1, 0xffffffff81000008, 4, 2}, 48);
  EXPECT_FALSE(damage_.any());
  EXPECT_EQ(read(0xffffffff81000000, 100), 12u);
  EXPECT_EQ(read(0xffffffff81000007, 3), 3u);
  EXPECT_EQ(read(0xffffffff8100000c, 3), 0u);
  EXPECT_EQ(read(0xffffffff80ffffff, 3), 0u);
}

TEST_F(KernelCodeSections, DamageIsReportedAndTheRestUsed) {
  load({0xffffffff81000000, 8, 1, 0xffffffff81000008, 1000, 2}, 48);
  EXPECT_TRUE(damage_.any());
  EXPECT_EQ(read(0xffffffff81000000, 100), 8u);
  load({UINT64_MAX - 2, 8, 1}, 24);
  EXPECT_EQ(read(UINT64_MAX - 2, 2), 0u);
  load({5, 0, 1}, 24);
  load({5, UINT64_MAX, 1}, 24);
  EXPECT_EQ(damage_.places(), 4u);
  load({}, 1ull << 40);
  EXPECT_EQ(damage_.places(), 5u);
}

}  // namespace
