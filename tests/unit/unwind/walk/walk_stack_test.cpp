// SPDX-License-Identifier: MIT
// Stacks that are written by hand: where each frame is, and how a stack ends.
#include "walk/walk_stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "table/table_builder.h"
#include "tables.h"

namespace {

using testing::ElementsAre;
using unwind::CfaKind;
using unwind::Code;
using unwind::End;
using unwind::Rule;
using unwind::SaveKind;
using unwind::TableBuilder;
using unwind::Walked;

constexpr uint64_t bias = 0x7f0000000000, stack_at = 0x7ffd00001000;
// Addresses in the file; each function has 0x100 bytes.
constexpr uint64_t start = 0x1000, plain = 0x1100, framed = 0x1200, handler = 0x1300, plt = 0x1400,
                   aligned = 0x1500, assembly = 0x1600, strange = 0x1700;

Rule rule_of(CfaKind kind, uint8_t base, int32_t offset, int32_t second = 0) {
  Rule rule;
  rule.cfa = {kind, base, 0, 0, offset, second, 0};
  rule.saves[unwind::return_address] = {SaveKind::at_cfa, 0, 0, 0, -8};
  return rule;
}

class UnwindWalk : public testing::Test {
 protected:
  UnwindWalk() : table_(unwind_test::owned(table())) {
    stack_.registers[unwind::stack_pointer] = stack_at;
  }

  static std::vector<std::byte> table() {
    TableBuilder builder;
    const auto add = [&](uint64_t at, const Rule& rule) {
      builder.begin_function(at, at + 0x100);
      builder.add_row(at, rule);
    };
    add(start, rule_of(CfaKind::end, 7, 8));
    add(plain, rule_of(CfaKind::offset, 7, 24));
    Rule with_frame = rule_of(CfaKind::offset, 6, 16);
    with_frame.saves[6] = {SaveKind::at_cfa, 0, 0, 0, -16};
    add(framed, with_frame);
    // The kernel's frame: the registers are at offsets from the stack pointer.
    Rule signal = rule_of(CfaKind::dereference, 7, 16);
    signal.cfa.flags = unwind::rule_signal;
    signal.saves[6] = {SaveKind::at_base, 7, 0, 0, 0};
    signal.saves[16] = {SaveKind::at_base, 7, 0, 0, 8};
    add(handler, signal);
    add(plt, rule_of(CfaKind::plt, 7, 8, 11));
    add(aligned, rule_of(CfaKind::dereference, 10, -8));
    add(strange, rule_of(CfaKind::unsupported, 7, 8));
    return builder.take();
  }

  Walked walk(uint64_t at, const std::vector<uint64_t>& words, size_t space = 16) {
    stack_.registers[unwind::return_address] = at;
    stack_.bytes = std::as_bytes(std::span(words));
    frames_.assign(space, 0);
    const Walked walked = unwind::walk_stack(
        stack_,
        [&](uint64_t address) {
          const bool inside = address >= bias + start && address < bias + strange + 0x100;
          return Code{inside, inside ? &table_.table : nullptr, bias};
        },
        frames_);
    frames_.resize(walked.frames);
    return walked;
  }

  unwind::CapturedStack stack_;
  unwind_test::OwnedTable table_;
  std::vector<uint64_t> frames_;
};

TEST_F(UnwindWalk, AStackThatReachesTheStartIsWhole) {
  const auto walked = walk(bias + plain + 5, {1, 2, bias + plain + 0x20, 3, 4, bias + start + 9});
  EXPECT_EQ(walked.end, End::whole);
  EXPECT_EQ(walked.by_table, 2u);
  EXPECT_THAT(frames_, ElementsAre(bias + plain + 0x20, bias + start + 9));
}

// A call may be the last instruction of a function: the return address is the next function's.
TEST_F(UnwindWalk, TheCallerIsTheCodeBeforeTheReturnAddress) {
  const auto walked = walk(bias + plain, {1, 2, bias + framed, 3, 4, bias + start + 0x100});
  EXPECT_EQ(walked.end, End::whole);
  EXPECT_THAT(frames_, ElementsAre(bias + framed, bias + start + 0x100));
}

TEST_F(UnwindWalk, SavedRegistersAreRestoredForTheCallersFrame) {
  stack_.registers[6] = stack_at + 8;
  // framed's frame: saved frame pointer, return address; its caller is framed again.
  const auto walked =
      walk(bias + framed + 0x10, {0, stack_at + 32, bias + framed + 0x20, 0, 77, bias + start + 1});
  EXPECT_EQ(walked.end, End::whole);
  EXPECT_THAT(frames_, ElementsAre(bias + framed + 0x20, bias + start + 1));
}

// The interrupted function may be at its first instruction: its address minus one would be the
// function's before it.
TEST_F(UnwindWalk, TheCodeThatASignalInterruptedIsExact) {
  stack_.registers[unwind::frame_pointer] = 0;
  // plain runs in the handler and returns to the kernel's frame, which has saved the frame
  // pointer, the address and the stack pointer.
  const auto walked = walk(bias + plain + 1, {0, 0, bias + handler + 1,        //
                                              0, bias + plain, stack_at + 48,  //
                                              0, 0, bias + start + 7});
  EXPECT_EQ(walked.end, End::whole);
  EXPECT_EQ(walked.by_table, 3u);
  // Frames minus one are in the caller's instruction.
  EXPECT_THAT(frames_, ElementsAre(bias + handler + 1, bias + plain + 1, bias + start + 7));
}

// The interrupted stack is read later: its callers may be others by then.
TEST_F(UnwindWalk, CallersOnAnInterruptedStackAreGuessed) {
  constexpr uint64_t other = 0x7e0000000000;
  struct Rules {
    const unwind::Table& table;
    std::vector<uint64_t> words;
    std::vector<uint64_t> asked;
    unwind::Table::Found rule(const unwind::FramePlace& place) {
      return table.find(place.address - bias);
    }
    bool is_executable(uint64_t address) { return address >= bias; }
    std::span<const std::byte> stack_at(uint64_t address, uint64_t signal_frame) {
      asked.push_back(signal_frame);
      asked.push_back(address);
      return std::as_bytes(std::span(words));
    }
  };
  const std::vector<uint64_t> handlers = {0, 0, bias + handler + 1, 0, bias + plain, other};
  const auto walk_with = [&](std::vector<uint64_t> words) {
    stack_.registers[unwind::return_address] = bias + plain + 1;
    stack_.bytes = std::as_bytes(std::span(handlers));
    frames_.assign(16, 0);
    Rules rules{table_.table, std::move(words), {}};
    const Walked walked = unwind::Walk(stack_, rules).run(frames_);
    frames_.resize(walked.frames);
    EXPECT_THAT(rules.asked, ElementsAre(stack_at + 24, other));
    return walked;
  };
  auto walked = walk_with({0, 0, bias + plain + 0x20, 0, 0, bias + start + 7});
  EXPECT_THAT(frames_, ElementsAre(bias + handler + 1, bias + plain + 1, bias + plain + 0x20,
                                   bias + start + 7));
  EXPECT_EQ(walked.by_table, 2u);
  EXPECT_EQ(walked.end, End::unknown);
  // There it is the end of what was read, or no code.
  EXPECT_EQ(walk_with({0, 0, bias + plain + 0x20}).end, End::cut);
  walked = walk_with({0, 0, 8, 0});
  EXPECT_EQ(walked.end, End::cut);
  EXPECT_EQ(walked.frames, 2u);
  // It cannot be read.
  EXPECT_EQ(walk_with({}).end, End::cut);
}

TEST_F(UnwindWalk, CallersOnAnInterruptedStackOfTheSameTimeAreCertain) {
  constexpr uint64_t other = 0x7e0000000000;
  const std::vector<uint64_t> handlers = {0, 0, bias + handler + 1, 0, bias + plain, other};
  const std::vector<uint64_t> interrupted = {0, 0, bias + plain + 0x20, 0, 0, bias + start + 7};
  stack_.interrupted = std::as_bytes(std::span(interrupted));
  stack_.interrupted_at = other;
  const auto walked = walk(bias + plain + 1, handlers);
  EXPECT_THAT(frames_, ElementsAre(bias + handler + 1, bias + plain + 1, bias + plain + 0x20,
                                   bias + start + 7));
  EXPECT_EQ(walked.by_table, 4u);
  EXPECT_EQ(walked.end, End::whole);
  // The program runs on the signal stack again after it has left the handler.
  const std::vector<uint64_t> reused = {0, 0, 8, 0};
  stack_.interrupted = std::as_bytes(std::span(reused));
  EXPECT_EQ(walk(bias + plain + 1, handlers).end, End::cut);
  EXPECT_THAT(frames_, ElementsAre(bias + handler + 1, bias + plain + 1));
  // It is that of another frame.
  stack_.interrupted = std::as_bytes(std::span(interrupted));
  stack_.interrupted_at = other - 8;
  EXPECT_EQ(walk(bias + plain + 1, handlers).end, End::cut);
  EXPECT_THAT(frames_, ElementsAre(bias + handler + 1, bias + plain + 1));
}

TEST_F(UnwindWalk, APltEntryHasPushedAWordFromItsEleventhByteOn) {
  EXPECT_EQ(walk(bias + plt + 0x20 + 10, {bias + start + 1, 0}).end, End::whole);
  EXPECT_THAT(frames_, ElementsAre(bias + start + 1));
  EXPECT_EQ(walk(bias + plt + 0x20 + 11, {0, bias + start + 2}).end, End::whole);
  EXPECT_THAT(frames_, ElementsAre(bias + start + 2));
}

TEST_F(UnwindWalk, ARealignedStackIsFoundThroughAWordInMemory) {
  stack_.registers[10] = stack_at + 16;
  EXPECT_EQ(walk(bias + aligned + 1, {0, stack_at + 32, 0, bias + start + 1}).end, End::whole);
}

TEST_F(UnwindWalk, AStackIsCutWhereTheCapturedBytesEnd) {
  const auto walked = walk(bias + plain, {1, 2, bias + plain + 0x20, 3});
  EXPECT_EQ(walked.end, End::cut);
  EXPECT_THAT(frames_, ElementsAre(bias + plain + 0x20));
  EXPECT_EQ(walk(bias + plain, {}).end, End::cut);
}

TEST_F(UnwindWalk, AStackIsCutWhereTheSpaceForFramesEnds) {
  const auto walked = walk(bias + plain, {1, 2, bias + plain + 0x20, 3, 4, bias + start + 9}, 1);
  EXPECT_EQ(walked.end, End::cut);
  EXPECT_EQ(walked.frames, 1u);
}

// But not of the registers' own code: in the new memory of a program that is just being started,
// words are zero.
TEST_F(UnwindWalk, ACallersReturnAddressOfZeroIsTheEnd) {
  EXPECT_EQ(walk(bias + plain, {1, 2, bias + plain + 0x20, 3, 4, 0}).end, End::whole);
  EXPECT_THAT(frames_, ElementsAre(bias + plain + 0x20));
  EXPECT_EQ(walk(bias + plain, {1, 2, 0}).end, End::unknown);
  EXPECT_TRUE(frames_.empty());
}

TEST_F(UnwindWalk, CodeWithoutATableIsPassedByItsFramePointerAndTheRestIsAGuess) {
  for (const uint64_t unknown : {assembly, strange}) {
    stack_.registers[6] = stack_at + 24;
    const auto walked = walk(bias + plain, {1, 2, bias + unknown + 4, stack_at + 512,
                                            bias + plain + 0x20, 3, 4, bias + start + 9});
    EXPECT_EQ(walked.end, End::unknown);
    EXPECT_EQ(walked.by_table, 1u);
    EXPECT_THAT(frames_, ElementsAre(bias + unknown + 4, bias + plain + 0x20, bias + start + 9));
  }
}

TEST_F(UnwindWalk, AFramePointerIsFollowedUpwardsOnlyAndToCodeOnly) {
  const std::vector<uint64_t> words{1, 2, bias + assembly + 4, stack_at + 512, bias + plain + 0x20,
                                    3, 4, bias + start + 9};
  for (const uint64_t frame : {stack_at - 8, stack_at + 25, uint64_t{0}, stack_at + 0x10000}) {
    stack_.registers[6] = frame;
    EXPECT_EQ(walk(bias + plain, words).end, End::unknown);
    EXPECT_EQ(frames_.size(), 1u);
  }
  stack_.registers[6] = stack_at + 32;  // the word above it is no address of code
  EXPECT_EQ(walk(bias + plain, words).frames, 1u);
}

// The dynamic loader's first code has no table.
TEST_F(UnwindWalk, AProgramsFirstCodeIsKnownByItsArguments) {
  EXPECT_EQ(
      walk(bias + plain, {1, 2, bias + assembly + 4, 2, stack_at + 90, stack_at + 95, 0, 1}).end,
      End::whole);
  EXPECT_EQ(walk(bias + plain, {1, 2, bias + assembly + 4, 2, stack_at + 90, 5, 0, 1}).end,
            End::unknown);
  EXPECT_EQ(walk(bias + plain, {1, 2, bias + assembly + 4, 2, stack_at + 90, stack_at + 95, 7}).end,
            End::unknown);
}

TEST_F(UnwindWalk, AFrameThatIsNotAboveTheOneBeforeEndsTheStack) {
  stack_.registers[6] = stack_at - 16;  // framed's CFA is then the stack pointer itself
  EXPECT_EQ(walk(bias + framed + 0x10, {0, 0, 0}).end, End::unknown);
  EXPECT_TRUE(frames_.empty());
}

// After a guess only three registers are known.
TEST_F(UnwindWalk, ARegisterThatAGuessHasLostIsNotUsed) {
  stack_.registers[6] = stack_at;
  stack_.registers[10] = stack_at + 8;
  const auto walked = walk(bias + assembly, {0, bias + aligned + 4, 0, bias + start + 1});
  EXPECT_EQ(walked.end, End::unknown);
  EXPECT_EQ(walked.by_table, 0u);
  EXPECT_THAT(frames_, ElementsAre(bias + aligned + 4));
}

}  // namespace
