// SPDX-License-Identifier: MIT
// The module's copies of stacks: what the application gets of them, and the records of its frames.
#include "driver/driver_stacks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pitrace/encode.h>
#include <pitrace/ring.h>

#include "fake_device.h"
#include "streams.h"
#include "system/system_facts.h"

namespace pi::perfutil {
namespace {

using test::FakeDevice;
using test::FakeModule;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// An application that finds the frames 0x51 and 0x52 in each copy.
struct FindingApplication {
  int refusals = 0;  // how often it is not ready
  std::vector<pi_stack_copy> copies;
  std::vector<std::string> changes;
  uint64_t first_word = 0, first_interrupted_word = 0;

  StackCopies functions() {
    StackCopies out;
    out.bytes = 512;
    out.resolver.context = this;
    out.resolver.begin = [](void* context) {
      static_cast<FindingApplication*>(context)->changes.clear();
    };
    out.resolver.change = [](void* context, const pi_process_change* change) {
      static_cast<FindingApplication*>(context)->changes.push_back(
          std::to_string(change->kind) + " " + std::to_string(change->pid) + " " +
          std::to_string(change->time) + " " + change->path);
    };
    out.resolver.note = [](void*, unsigned) -> const char* { return nullptr; };
    out.resolver.resolve = [](void* context, const pi_stack_copy* copy, int last,
                              uint64_t* addresses, uint32_t space, pi_stack_frames* frames) -> int {
      auto& self = *static_cast<FindingApplication*>(context);
      if (self.refusals-- > 0 && last == 0) return 0;
      self.copies.push_back(*copy);
      if (copy->length >= 8) std::memcpy(&self.first_word, copy->bytes, 8);
      if (copy->interrupted_length >= 8)
        std::memcpy(&self.first_interrupted_word, copy->interrupted, 8);
      EXPECT_GE(space, 2u);
      addresses[0] = 0x51;
      addresses[1] = 0x52;
      *frames = {2, 1, PI_STACK_UNKNOWN};
      return 1;
    };
    return out;
  }
};

class DriverStacksTest : public testing::Test {
 protected:
  DriverStacksTest() {
    config_.mode = COLLECTION_MODE_NORMAL;
    names_ = device_.map(PITRACE_BUFFER_MTE, 0, ring_mapping_bytes(names_bytes));
    attach(names_ring_, PITRACE_BUFFER_MTE, names_bytes);
    stacks_.emplace(device_, config_);
  }
  void use() {
    EXPECT_EQ(stacks_->set(application_.functions()), 0);
    stacks_->add_cpu(0, names_);
    attach(copies_ring_, PITRACE_BUFFER_STACKS, module_->copies.buffer_bytes);
    stacks_->begin();
  }
  void attach(pitrace_ring& ring, uint32_t kind, uint64_t bytes) {
    std::byte* memory = module_->memory.at({kind, 0});
    ring.head = reinterpret_cast<pitrace_buffer_head*>(memory);
    ring.head->data_size = ring.size = bytes;
    ring.data = reinterpret_cast<__u8*>(memory + PITRACE_HEAD_BYTES);
    pitrace_ring_reset(&ring, 0, false);
  }
  template <class Encode>
  uint64_t put(pitrace_ring& ring, uint32_t size, const Encode& encode) {
    __u64 time = trace_clock();
    pitrace_ring_enter(&ring);
    encode(pitrace_ring_reserve_timed(&ring, size, &time, true), static_cast<uint32_t>(time));
    pitrace_ring_leave(&ring);
    return time;
  }
  // The last interrupted words are of an interrupted stack.
  uint64_t put_copy(uint32_t id, const std::vector<uint64_t>& stack, size_t interrupted = 0) {
    __u64 registers[PITRACE_STACK_REGISTERS];
    for (uint32_t i = 0; i < PITRACE_STACK_REGISTERS; ++i) registers[i] = 100 + i;
    const pitrace_copied copied{static_cast<uint32_t>(8 * (stack.size() - interrupted)),
                                static_cast<uint32_t>(8 * interrupted), 0x6000};
    return put(copies_ring_, pitrace_size_copy(&copied), [&](void* place, uint32_t low) {
      pitrace_encode_copy(place, low, id, 5, 7, registers, stack.data(), &copied);
    });
  }
  uint64_t put_link(uint32_t minor, const std::vector<uint32_t>& ints) {
    const auto count = static_cast<uint32_t>(ints.size());
    return put(names_ring_, pitrace_size_ints(count), [&](void* place, uint32_t low) {
      pitrace_encode_ints(place, low, PITRACE_MAJOR_MTE, minor, ints.data(), count);
    });
  }
  std::vector<std::string> frames() {
    std::vector<std::string> lines;
    for (const auto& view : stacks_->buffers())
      for (const auto& line : test::lines_of(view.records)) lines.push_back(line);
    return lines;
  }

  static constexpr uint64_t names_bytes = 64 << 10;
  std::shared_ptr<FakeModule> module_ = std::make_shared<FakeModule>();
  FakeDevice device_{module_};
  TraceConfig config_;
  UniqueMapping names_;
  pitrace_ring names_ring_{}, copies_ring_{};
  FindingApplication application_;
  std::optional<DriverStacks> stacks_;
};

std::string frames_line(uint32_t id, uint64_t time) {
  return fmt::format("1a/{:x} @{} 100000 1 0 51 0 52", id, time);
}

TEST_F(DriverStacksTest, ACopyBecomesARecordOfItsFrames) {
  use();
  EXPECT_EQ(module_->copies.bytes, 512u);
  const uint64_t time = put_copy(3, {11, 12});
  stacks_->finish();
  EXPECT_THAT(frames(), ElementsAre(frames_line(3, time)));
  ASSERT_EQ(application_.copies.size(), 1u);
  const pi_stack_copy& copy = application_.copies[0];
  EXPECT_EQ(copy.pid, 5u);
  EXPECT_EQ(copy.tid, 7u);
  EXPECT_EQ(copy.time, time);
  EXPECT_EQ(copy.length, 16u);
  EXPECT_EQ(application_.first_word, 11u);
  for (uint32_t i = 0; i < PI_STACK_REGISTERS; ++i) EXPECT_EQ(copy.registers[i], 100 + i);
  // Nothing of the copy remains to be read.
  EXPECT_EQ(copies_ring_.head->consumed, copies_ring_.head->committed);
}

TEST_F(DriverStacksTest, TheApplicationGetsTheInterruptedStackOfTheCopy) {
  use();
  put_copy(3, {11, 12, 13}, 2);
  put_copy(4, {14});
  stacks_->finish();
  ASSERT_EQ(application_.copies.size(), 2u);
  const pi_stack_copy& copy = application_.copies[0];
  EXPECT_EQ(copy.length, 8u);
  EXPECT_EQ(copy.interrupted_at, 0x6000u);
  EXPECT_EQ(copy.interrupted_length, 16u);
  EXPECT_EQ(application_.first_interrupted_word, 12u);
  EXPECT_EQ(application_.copies[1].length, 8u);
  EXPECT_EQ(application_.copies[1].interrupted_length, 0u);
  EXPECT_EQ(application_.copies[1].interrupted, nullptr);
}

TEST_F(DriverStacksTest, TheApplicationGetsChangesBeforeTheCopiesThatNeedThem) {
  use();
  const uint64_t forked = put_link(PITRACE_MTE_PARENT, {5, 4, PITRACE_PARENT_FORK, 4});
  put_link(PITRACE_MTE_PARENT, {8, 4, PITRACE_PARENT_EXISTING});
  const uint64_t executed = put_link(PITRACE_MTE_CREATE, {5});
  const pitrace_module file{5, 0, 0x1000, 0x2000, 0x3000, 9};
  const uint64_t mapped = put(names_ring_, pitrace_size_module(4), [&](void* place, uint32_t low) {
    pitrace_encode_module(place, low, &file, "/bin", 4);
  });
  const uint64_t ended = put_link(PITRACE_MTE_KILL, {5});
  stacks_->finish();
  EXPECT_THAT(application_.changes,
              ElementsAre(fmt::format("2 5 {} ", forked), fmt::format("3 5 {} ", executed),
                          fmt::format("1 5 {} /bin", mapped), fmt::format("4 5 {} ", ended)));
}

TEST_F(DriverStacksTest, NamesThatAreAboutToBeOverwrittenAreSeenOnce) {
  use();
  put_link(PITRACE_MTE_CREATE, {5});
  const BufferView view = RingMemory(names_).unread();
  stacks_->see_names(view);
  put_link(PITRACE_MTE_KILL, {5});
  stacks_->finish();
  EXPECT_EQ(application_.changes.size(), 2u);
}

TEST_F(DriverStacksTest, NamesAfterTheEndAreNotNeeded) {
  use();
  stacks_->end_names();
  put_link(PITRACE_MTE_CREATE, {5});
  stacks_->finish();
  EXPECT_THAT(application_.changes, IsEmpty());
}

TEST_F(DriverStacksTest, TheThreadFindsFramesWhileTheTraceIsOn) {
  use();
  ASSERT_TRUE(stacks_->start([] {}));
  put_copy(1, {});
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (frames().empty() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(frames().size(), 1u);
  stacks_->finish();
}

TEST_F(DriverStacksTest, TheEndWaitsForTheApplication) {
  use();
  application_.refusals = 3;
  const uint64_t time = put_copy(1, {});
  stacks_->finish();
  EXPECT_THAT(frames(), ElementsAre(frames_line(1, time)));
}

TEST_F(DriverStacksTest, LostAndRefusedCopiesAreNoted) {
  use();
  copies_ring_.head->lost[PITRACE_LOST_FULL] = 2;
  copies_ring_.head->lost[PITRACE_LOST_SOURCE] = 3;
  copies_ring_.head->produced = 5;
  stacks_->finish();
  EXPECT_THAT(stacks_->notes(),
              ElementsAre(HasSubstr("2 user stack(s) follow frame pointers, since the recorder"),
                          HasSubstr("3 user stack(s) follow frame pointers, since this user may")));
  EXPECT_EQ(stacks_->buffers()[0].counts.lost[PITRACE_LOST_SOURCE], 2u);
}

TEST_F(DriverStacksTest, DiscardedRecordsLeaveNoFrames) {
  use();
  put_copy(1, {});
  stacks_->catch_up();
  EXPECT_EQ(stacks_->discard([&] {
    pitrace_ring_reset(&copies_ring_, 0, false);
    return 0;
  }),
            0);
  EXPECT_THAT(frames(), IsEmpty());
  const uint64_t time = put_copy(1, {});
  stacks_->finish();
  EXPECT_THAT(frames(), ElementsAre(frames_line(1, time)));
}

TEST_F(DriverStacksTest, ADamagedCopyIsIgnored) {
  use();
  const pitrace_copied none{};
  put(copies_ring_, pitrace_size_copy(&none), [&](void* place, uint32_t low) {
    const __u64 registers[PITRACE_STACK_REGISTERS] = {};
    pitrace_encode_copy(place, low, 1, 5, 7, registers, registers, &none);
    // It says that there are more bytes than there are.
    static_cast<uint32_t*>(place)[sizeof(pitrace_record) / 4 + PITRACE_COPY_INTS - 1] = 4;
  });
  stacks_->finish();
  EXPECT_THAT(frames(), IsEmpty());
  EXPECT_THAT(application_.copies, IsEmpty());
}

TEST_F(DriverStacksTest, WithoutAResolverTheModuleIsNotAsked) {
  EXPECT_EQ(stacks_->set({}), 0);
  EXPECT_THAT(module_->requests, IsEmpty());
  use();
  EXPECT_EQ(stacks_->set({}), 0);
  EXPECT_EQ(module_->copies.bytes, 0u);
}

TEST_F(DriverStacksTest, ACpuWithoutMemoryIsCountedOnceHoweverOftenItIsTried) {
  config_.trace_bytes = uint64_t{1} << 62;
  DriverStacks stacks(device_, config_);
  EXPECT_EQ(stacks.set(application_.functions()), 0);
  stacks.add_cpu(0, names_);
  stacks.add_cpu(0, names_);
  EXPECT_THAT(stacks.notes(), ElementsAre(HasSubstr("the user stacks of 1 CPU(s)")));
}

TEST_F(DriverStacksTest, AModuleThatRefusesLeavesItInactive) {
  module_->refuse[PITRACE_IOC_COPIES] = -ENOTTY;
  EXPECT_EQ(stacks_->set(application_.functions()), -ENOTTY);
  EXPECT_FALSE(stacks_->is_active());
}

}  // namespace
}  // namespace pi::perfutil
