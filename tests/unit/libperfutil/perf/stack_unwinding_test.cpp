// SPDX-License-Identifier: MIT
// Ticks with copies of registers and stack: what the application gets, and what becomes a record.
#include "source/stack_unwinding.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "events/user_registers_x86.h"
#include "perf/perf_convert.h"
#include "perf/perf_copy.h"
#include "perf_records.h"
#include "source/major_set.h"
#include "streams.h"
#include "system/system_facts.h"

namespace pi::perfutil {
namespace {

using test::perf_chain;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t begin_of_kernel = static_cast<uint64_t>(PERF_CONTEXT_KERNEL),
                   begin_of_user = static_cast<uint64_t>(PERF_CONTEXT_USER);

// A tick of thread 7 with a chain, the registers 100, 101 ... in perf's order, and stack bytes.
std::vector<std::byte> tick_with_copy(uint16_t mode, uint64_t time,
                                      const std::vector<uint64_t>& chain,
                                      const std::vector<uint64_t>& stack, uint64_t used,
                                      uint64_t abi = PERF_SAMPLE_REGS_ABI_64) {
  test::PerfRecord record(PERF_RECORD_SAMPLE, mode);
  record.u64(test::some_event).u64(0x1000).u32(5).u32(7).u64(time).u32(0).u32(0);
  record.u64(chain.size());
  for (const uint64_t entry : chain) record.u64(entry);
  record.u64(abi);
  if (abi != PERF_SAMPLE_REGS_ABI_NONE)
    for (uint64_t i = 0; i < PI_STACK_REGISTERS; ++i) record.u64(100 + i);
  record.u64(8 * stack.size());
  for (const uint64_t word : stack) record.u64(word);
  if (!stack.empty()) record.u64(used);
  return record.end();
}

// An application that answers as the test says.
struct Application {
  std::vector<uint64_t> frames;
  uint32_t by_table = 0;
  int end = PI_STACK_WHOLE;
  int refusals = 0;  // how often it is not ready
  bool may_ask_later = true;
  bool was_last = false;
  std::vector<uint64_t> times;
  std::vector<uint64_t> dropped;  // their ids
  pi_stack_copy copy{};
  std::vector<uint64_t> words;
  std::vector<std::string> names;  // of frames

  StackCopies copies(uint32_t bytes = 64) {
    StackCopies copies;
    copies.bytes = bytes;
    copies.resolver.context = this;
    copies.resolver.begin = [](void*) {};
    copies.resolver.change = [](void*, const pi_process_change*) {};
    copies.resolver.note = [](void*, unsigned) -> const char* { return nullptr; };
    copies.resolver.frame_name = [](void* context, uint32_t number) -> const char* {
      const auto& all = static_cast<Application*>(context)->names;
      return number != 0 && number <= all.size() ? all[number - 1].c_str() : nullptr;
    };
    if (may_ask_later)
      copies.resolver.drop = [](void* context, uint64_t id) {
        static_cast<Application*>(context)->dropped.push_back(id);
      };
    copies.resolver.resolve = [](void* context, const pi_stack_copy* copy, int last,
                                 uint64_t* addresses, uint32_t space, pi_stack_frames* out) -> int {
      auto& self = *static_cast<Application*>(context);
      self.was_last = last != 0;
      if (self.refusals-- > 0 && last == 0) return 0;
      self.copy = *copy;
      self.times.push_back(copy->time);
      const auto* first = static_cast<const uint64_t*>(copy->bytes);
      self.words.assign(first, first + copy->length / 8);
      EXPECT_GE(space, self.frames.size());
      std::copy(self.frames.begin(), self.frames.end(), addresses);
      *out = {static_cast<uint32_t>(self.frames.size()), self.by_table, self.end};
      return 1;
    };
    return copies;
  }
};

class PerfStackUnwinding : public testing::Test {
 protected:
  explicit PerfStackUnwinding(StackUnwinding::Limits limits = {}) : unwinding_(limits) {
    auto trace = UserBuffer::create(64 << 10, 0, PITRACE_BUFFER_TRACE, &state_);
    EXPECT_TRUE(trace);
    trace_.emplace(std::move(*trace));
    std::bitset<256> enabled;
    enabled.set(PITRACE_MAJOR_TPROF);
    converter_.set_enabled(enabled);
    converter_.set_stacks({PITRACE_STACKS_KERNEL | PITRACE_STACKS_USER, 4}, 100);
    converter_.set_unwound(true);
    unwinding_.set(application_.copies());
    unwinding_.begin();
  }
  void hold(uint64_t time, const std::vector<std::byte>& record, uint32_t cpu = 0) {
    unwinding_.hold(cpu, held_record(time, record, PerfConverter::chain_offset));
  }
  uint64_t advance(uint64_t until = UINT64_MAX) {
    return unwinding_.advance(until, StackUnwinding::Wait::usual, put_);
  }
  void finish() { unwinding_.finish(UINT64_MAX, put_); }
  // The stack of the only tick.
  pi::StackView stack() {
    whole_ = test::records_of(trace_->unread().records);
    for (const auto& record : whole_)
      if (record.view.major() == PITRACE_MAJOR_TPROF) return pi::stack_of_tprof(record.view);
    return {};
  }
  static std::vector<uint64_t> frames(const pi::StackView& stack) {
    std::vector<uint64_t> all;
    for (uint32_t i = 0; i < stack.kernel_frames() + stack.user_frames(); ++i)
      all.push_back(stack.frame(i));
    return all;
  }

  RecordingState state_;
  std::optional<UserBuffer> trace_;
  PerfConverter converter_{true, "/proc"};
  Application application_;
  StackUnwinding unwinding_;
  const StackUnwinding::Put put_ = [this](uint32_t, HeldStack& held,
                                          const ResolvedStack* resolved) {
    put_times_.push_back(held.time);
    if (resolved) replace_frames(held, PerfConverter::chain_offset, *resolved);
    converter_.convert_tick(held.record, *trace_);
  };
  std::vector<test::TimedRecord> whole_;
  std::vector<uint64_t> put_times_;
};

TEST_F(PerfStackUnwinding, NamesOfFramesAreLinesFromTheOnesThatAreKnown) {
  uint32_t known = 0;
  EXPECT_EQ(unwinding_.frame_names(known), "");
  application_.names = {"a.b()V", "c\n9 d"};
  EXPECT_EQ(unwinding_.frame_names(known), "1 a.b()V\n2 c\n");
  EXPECT_EQ(known, 2u);
  EXPECT_EQ(unwinding_.frame_names(known), "");
  application_.names.emplace_back("e");
  EXPECT_EQ(unwinding_.frame_names(known), "3 e\n");
}

TEST_F(PerfStackUnwinding, TheApplicationGetsRegistersByDwarfNumberAndTheUsedBytes) {
  hold(10, tick_with_copy(PERF_RECORD_MISC_USER, 10, {begin_of_user, 0x1000, 0x2000}, {1, 2, 3, 4},
                          24));
  EXPECT_EQ(advance(), UINT64_MAX);
  EXPECT_EQ(application_.copy.pid, 5u);
  EXPECT_EQ(application_.copy.tid, 7u);
  EXPECT_THAT(application_.words, ElementsAre(1, 2, 3));
  // perf's order: ax bx cx dx si di bp sp ip, r8 to r15.
  EXPECT_THAT(application_.copy.registers, ElementsAre(100, 103, 102, 101, 104, 105, 106, 107, 109,
                                                       110, 111, 112, 113, 114, 115, 116, 108));
}

TEST_F(PerfStackUnwinding, ItsFramesReplaceThoseOfTheKernelForTheUser) {
  application_.frames = {0x51, 0x52};
  application_.by_table = 2;
  hold(10, tick_with_copy(PERF_RECORD_MISC_USER, 10, {begin_of_user, 0x1000, 0x2000}, {1}, 8));
  advance();
  const auto found = stack();
  EXPECT_THAT(frames(found), ElementsAre(0x51, 0x52));
  EXPECT_EQ(found.flags(), uint32_t{PITRACE_STACK_USER_TABLES | PITRACE_STACK_USER_WHOLE});
  EXPECT_EQ(found.table_frames(), 2u);
}

TEST_F(PerfStackUnwinding, ATickInTheKernelKeepsItsFramesAndBeginsWhereTheThreadEntered) {
  application_.frames = {0x51};
  application_.by_table = 0;
  application_.end = PI_STACK_UNKNOWN;
  hold(10,
       tick_with_copy(PERF_RECORD_MISC_KERNEL, 10,
                      {begin_of_kernel, 0xffffffff81000000, 0xffffffff81000010, begin_of_user, 0x9},
                      {1}, 8));
  advance();
  const auto found = stack();
  EXPECT_THAT(frames(found), ElementsAre(0xffffffff81000010, 108, 0x51));
  EXPECT_EQ(found.table_frames(), 1u);  // the entry itself is no guess
  EXPECT_EQ(found.flags(), uint32_t{PITRACE_STACK_USER_TABLES});
}

TEST_F(PerfStackUnwinding, TheStackAtASwitchIsThatOfTheDispatchAndBeginsWhereTheThreadEntered) {
  converter_.set_enabled(majors_meant(PITRACE_MAJOR_DISPATCH));
  converter_.set_stacks({PITRACE_STACKS_USER, 4}, 100);
  converter_.add_switch_stacks(test::some_event);
  application_.frames = {0x51, 0x52};
  application_.by_table = 2;
  const auto at_switch = [](uint32_t other, uint64_t time) {
    return test::perf_switch(PERF_RECORD_MISC_SWITCH_OUT, 7, other, time);
  };
  unwinding_.hold(0, held_record(11, at_switch(6, 11), 0));
  unwinding_.hold(0, held_record(13, at_switch(8, 13), 0));
  // From a ring of its own.
  hold(10, tick_with_copy(PERF_RECORD_MISC_KERNEL, 10, {begin_of_user, 0x9}, {1}, 8), 1);
  EXPECT_EQ(advance(), UINT64_MAX);
  constexpr uint32_t head =
      3 << 8 | PITRACE_STACK_USER_TABLES | PITRACE_STACK_USER_WHOLE | 3u << 24;
  EXPECT_THAT(test::lines_of(trace_->unread().records),
              ElementsAre(fmt::format("12/6 @11 6 8 {:x} 0 6c 0 51 0 52", head), "12/8 @13 8 8"));
}

TEST_F(PerfStackUnwinding, AStackDeeperThanRequestedIsCut) {
  application_.frames = {1, 2, 3, 4, 5};
  application_.by_table = 5;
  hold(10, tick_with_copy(PERF_RECORD_MISC_USER, 10, {begin_of_user, 0x1000}, {1}, 8));
  advance();
  const auto found = stack();
  EXPECT_THAT(frames(found), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(found.flags(), uint32_t{PITRACE_STACK_USER_TABLES | PITRACE_STACK_USER_CUT});
  EXPECT_EQ(found.table_frames(), 4u);
}

TEST_F(PerfStackUnwinding, AStackMayBe1023FramesDeep) {
  constexpr uint32_t depth = PITRACE_STACK_USER_DEPTH_MAX;
  converter_.set_stacks({PITRACE_STACKS_KERNEL | PITRACE_STACKS_USER, depth}, 2 * depth);
  unwinding_.set_depth(depth);
  for (uint64_t frame = 1; frame <= depth; ++frame) application_.frames.push_back(frame);
  application_.by_table = 1000;
  application_.end = PI_STACK_UNKNOWN;
  hold(10, tick_with_copy(PERF_RECORD_MISC_USER, 10, {begin_of_user, 0x1000}, {1}, 8));
  advance();
  const auto found = stack();
  EXPECT_EQ(frames(found), application_.frames);
  EXPECT_EQ(found.flags(), uint32_t{PITRACE_STACK_USER_TABLES});
  EXPECT_EQ(found.table_frames(), 1000u);
  EXPECT_EQ(trace_->unread().counts.lost[PITRACE_LOST_TOO_LONG], 0u);
}

TEST_F(PerfStackUnwinding, WithoutRegistersOf64BitsTheKernelsFramesStay) {
  for (const uint64_t abi : {PERF_SAMPLE_REGS_ABI_NONE, PERF_SAMPLE_REGS_ABI_32}) {
    hold(10,
         tick_with_copy(PERF_RECORD_MISC_USER, 10, {begin_of_user, 0x1000, 0x2000}, {}, 0, abi));
    advance();
    const auto found = stack();
    EXPECT_THAT(frames(found), ElementsAre(0x2000));
    EXPECT_EQ(found.flags(), 0u);
    EXPECT_THAT(application_.times, IsEmpty());
  }
}

TEST_F(PerfStackUnwinding, TicksOfAllCpusAreResolvedInTheOrderOfTime) {
  for (const uint64_t time : {10, 30, 50})
    hold(time, tick_with_copy(PERF_RECORD_MISC_USER, time, {}, {1}, 8), 0);
  for (const uint64_t time : {20, 25, 60})
    hold(time, tick_with_copy(PERF_RECORD_MISC_USER, time, {}, {1}, 8), 1);
  EXPECT_EQ(advance(50), UINT64_MAX);
  EXPECT_THAT(application_.times, ElementsAre(10, 20, 25, 30, 50));
}

TEST_F(PerfStackUnwinding, ATickWaitsUntilTheApplicationIsReadyAndLaterOnesOnlyForTheirPlace) {
  application_.refusals = 1;
  const uint64_t now = trace_clock();
  hold(now, tick_with_copy(PERF_RECORD_MISC_USER, now, {}, {1}, 8));
  hold(now + 1, tick_with_copy(PERF_RECORD_MISC_USER, now + 1, {}, {1}, 8), 1);
  EXPECT_EQ(advance(), now);
  EXPECT_TRUE(unwinding_.is_waiting());
  EXPECT_THAT(application_.times, ElementsAre(now + 1));
  EXPECT_THAT(put_times_, IsEmpty());
  EXPECT_EQ(advance(), UINT64_MAX);
  EXPECT_THAT(application_.times, ElementsAre(now + 1, now));
  EXPECT_THAT(put_times_, ElementsAre(now, now + 1));
  EXPECT_FALSE(application_.was_last);
  EXPECT_FALSE(unwinding_.is_waiting());
}

TEST_F(PerfStackUnwinding, AnApplicationThatCannotBeAskedLaterGetsThemInOrder) {
  application_.may_ask_later = false;
  unwinding_.set(application_.copies());
  application_.refusals = 1;
  const uint64_t now = trace_clock();
  hold(now, tick_with_copy(PERF_RECORD_MISC_USER, now, {}, {1}, 8));
  hold(now + 1, tick_with_copy(PERF_RECORD_MISC_USER, now + 1, {}, {1}, 8), 1);
  EXPECT_EQ(advance(), now);
  EXPECT_THAT(application_.times, IsEmpty());
  EXPECT_EQ(advance(), UINT64_MAX);
  EXPECT_THAT(application_.times, ElementsAre(now, now + 1));
}

TEST_F(PerfStackUnwinding, TheApplicationIsToldOfDroppedCopies) {
  application_.refusals = 2;
  const uint64_t now = trace_clock();
  for (uint64_t i = 0; i < 3; ++i)
    hold(now + i, tick_with_copy(PERF_RECORD_MISC_USER, now + i, {}, {1}, 8));
  advance();
  unwinding_.forget();
  EXPECT_THAT(application_.dropped, ElementsAre(1, 2));
  EXPECT_EQ(advance(), UINT64_MAX);
  EXPECT_THAT(put_times_, IsEmpty());
}

// With any readiness of the application, every record comes once, and in the order of time.
TEST_F(PerfStackUnwinding, RecordsComeInTheOrderOfTime) {
  std::mt19937 random(7);
  uint64_t time = trace_clock(), count = 0;
  for (int i = 0; i < 300; ++i) {
    application_.refusals = static_cast<int>(random() % 4);
    for (uint32_t cpu = 0; cpu < 3; ++cpu)
      for (auto n = random() % 3; n != 0; --n, ++count) {
        time += random() % 2;
        hold(time, tick_with_copy(PERF_RECORD_MISC_USER, time, {}, {1}, 8), cpu);
      }
    const size_t before = put_times_.size();
    const uint64_t until = random() % 2 ? time - 2 : time, waits = advance(until);
    if (put_times_.size() != before) {
      EXPECT_LE(put_times_.back(), std::min(until, waits));
    }
  }
  application_.refusals = 0;
  advance();
  EXPECT_EQ(put_times_.size(), count);
  EXPECT_TRUE(std::is_sorted(put_times_.begin(), put_times_.end()));
}

TEST_F(PerfStackUnwinding, AtTheEndItWaitsForTheApplication) {
  application_.refusals = 5;
  hold(10, tick_with_copy(PERF_RECORD_MISC_USER, 10, {}, {1}, 8));
  finish();
  EXPECT_THAT(application_.times, ElementsAre(10));
  EXPECT_FALSE(application_.was_last);
}

class PerfStackUnwindingInAHurry : public PerfStackUnwinding {
 protected:
  PerfStackUnwindingInAHurry() : PerfStackUnwinding({2000, 0, std::chrono::hours(1)}) {}
};

TEST_F(PerfStackUnwindingInAHurry, TicksThatWouldUseTooMuchMemoryDoNotWait) {
  application_.refusals = 1000;
  const uint64_t now = trace_clock();
  for (uint64_t i = 0; i < 8; ++i)
    hold(now + i, tick_with_copy(PERF_RECORD_MISC_USER, now + i, {}, {1}, 8));
  // Of each so many have space.
  const size_t fit = 2000 / (sizeof(HeldStack) + 8 + PerfConverter::chain_offset + 16);
  ASSERT_GE(fit, 3u);
  EXPECT_EQ(advance(), now + 8 - fit);
  EXPECT_EQ(application_.times.size(), 8 - fit);
}

TEST_F(PerfStackUnwinding, EveryTruncatedRecordIsCountedAsLost) {
  const auto whole = tick_with_copy(PERF_RECORD_MISC_USER, 10, {begin_of_user, 0x1000}, {1, 2}, 16);
  uint64_t cut = 0;
  for (size_t size = PerfConverter::chain_offset; size < whole.size(); size += 4, ++cut)
    hold(10, {whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)});
  advance();
  EXPECT_EQ(trace_->unread().counts.lost[PITRACE_LOST_SOURCE], cut);
  EXPECT_THAT(application_.times, IsEmpty());
}

}  // namespace
}  // namespace pi::perfutil
