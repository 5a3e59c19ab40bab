// SPDX-License-Identifier: MIT
// The recorder reads rings in memory that another process writes, with valid and hostile bytes.
#include "hooks/hook_area.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include <pi/decode.h>

#include "hooks/hook_record.h"
#include "system/system_facts.h"

namespace pi::perfutil {
namespace {

constexpr uint32_t ring_bytes = min_hook_ring_bytes;
constexpr uint32_t cpus = 8;
constexpr uint32_t process_id = 4711;

// Acts as the process: a ring as hook_client.cpp sets it up, but its memory is not mapped twice;
// records that wrap around are written through a buffer.
class HookAreaTest : public testing::Test {
 protected:
  HookAreaTest() { set_up(); }

  void set_up() {
    const size_t bytes = hook_area_bytes(ring_bytes);
    memory_ = static_cast<std::byte*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    area_ = std::make_unique<HookArea>(UniqueMapping(memory_, bytes), ring_bytes, 1, process_id);
    area_->begin(0);
  }

  HookAreaHead& head() { return *reinterpret_cast<HookAreaHead*>(memory_); }
  pitrace_buffer_head& ring_head(uint32_t index) {
    return *reinterpret_cast<pitrace_buffer_head*>(memory_ + hook_ring_place(index, ring_bytes));
  }
  std::byte* data(uint32_t index) {
    return memory_ + hook_ring_place(index, ring_bytes) + PITRACE_HEAD_BYTES;
  }

  // Appends bytes to the committed ones.
  void append(uint32_t index, std::span<const std::byte> bytes) {
    head().used = std::max(head().used, index + 1);
    auto& ring = ring_head(index);
    for (const std::byte byte : bytes) data(index)[ring.committed++ % ring_bytes] = byte;
  }
  void time(uint32_t index, uint64_t time) {
    std::byte bytes[PITRACE_TIME_SIZE];
    pitrace_encode_time(bytes, time);
    append(index, bytes);
  }
  static std::vector<std::byte> entry(uint32_t tag, uint64_t time, uint32_t cpu) {
    const HookRecord record{0x30, tag, &tag, 1, nullptr, 0};
    std::vector<std::byte> bytes(16 + 4);
    record.encode(bytes.data(), 20, static_cast<uint32_t>(time));
    std::memcpy(bytes.data() + 16, &cpu, 4);
    return bytes;
  }
  void hook(uint32_t index, uint32_t tag, uint64_t time, uint32_t cpu = 0) {
    append(index, entry(tag, time, cpu));
    ++ring_head(index).produced;
    ++ring_head(index).written;
  }

  // A Java hook that claims to be from process 1.
  void java_hook(uint32_t index, uint64_t time) {
    const uint32_t ints[PITRACE_JITTED_INTS] = {7, 1, 2, 3, 4};
    const HookRecord record{
        PITRACE_MAJOR_MTE, PITRACE_MTE_JITTED, ints, PITRACE_JITTED_INTS, nullptr, 0};
    std::vector<std::byte> bytes(32 + 4);
    record.encode(bytes.data(), 36, static_cast<uint32_t>(time));
    append(index, bytes);
    ++ring_head(index).produced;
    ++ring_head(index).written;
  }

  HookBatch collect() {
    HookBatch batch;
    area_->collect(cpus, batch);
    return batch;
  }
  static std::vector<uint32_t> tags(const HookBatch& batch) {
    std::vector<uint32_t> list;
    for (const auto& found : batch.hooks) {
      EXPECT_EQ(pitrace_check_hook(batch.record(found).data(), found.length), 0);
      list.push_back(RecordView{batch.record(found)}.minor());
    }
    return list;
  }
  // The ring is not read again and is counted once.
  void expect_damaged() {
    const HookBatch batch = collect();
    EXPECT_EQ(batch.damaged, 1u);
    EXPECT_EQ(batch.lost, 1u);
    const HookBatch after = collect();
    EXPECT_EQ(after.damaged + after.lost + after.hooks.size(), 0u);
  }

  std::byte* memory_;
  std::unique_ptr<HookArea> area_;
};

TEST_F(HookAreaTest, EachHookIsReadOnceWithItsTimeAndCpu) {
  time(0, 0x500000001);
  hook(0, 1, 0x500000001, 3);
  hook(0, 2, 0x500000009, 4);
  const HookBatch batch = collect();
  EXPECT_EQ(tags(batch), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(batch.hooks[0].time, 0x500000001u);
  EXPECT_EQ(batch.hooks[1].cpu, 4u);
  EXPECT_EQ(batch.hooks[1].length, 16u);
  EXPECT_EQ(ring_head(0).consumed, ring_head(0).committed);
  EXPECT_TRUE(collect().hooks.empty());
}

TEST_F(HookAreaTest, RecordsThatWrapAroundAreWhole) {
  time(0, 1);
  uint32_t next = 0, seen = 0;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 1000; ++i) hook(0, next, next + 1), ++next;
    for (const uint32_t tag : tags(collect())) EXPECT_EQ(tag, seen++);
  }
  EXPECT_EQ(seen, 50000u);
  EXPECT_GT(ring_head(0).committed, 10u * ring_bytes);
}

TEST_F(HookAreaTest, HooksFromBeforeTheTraceAreIgnored) {
  time(0, 10);
  hook(0, 1, 10);
  ring_head(0).lost[PITRACE_LOST_FULL] = 5;
  ring_head(0).produced += 5;
  head().lost = 3;
  area_->begin(100);
  hook(0, 2, 99);  // this hook was written at the time of the start
  hook(0, 3, 100);
  HookBatch batch = collect();
  EXPECT_EQ(tags(batch), (std::vector<uint32_t>{3}));
  EXPECT_EQ(batch.lost, 0u);
}

TEST_F(HookAreaTest, LossesAreCountedOnce) {
  time(0, 10);
  hook(0, 1, 10);
  ring_head(0).lost[PITRACE_LOST_FULL] = 5;
  ring_head(0).produced += 5;
  head().lost = 3;
  EXPECT_EQ(collect().lost, 8u);
  EXPECT_EQ(collect().lost, 0u);
  HookBatch last;
  area_->end(last);
  EXPECT_EQ(last.lost, 0u);
}

TEST_F(HookAreaTest, AHookThatIsNeverFinishedIsLost) {
  time(0, 10);
  hook(0, 1, 10);
  EXPECT_TRUE(area_->is_quiet());
  ++ring_head(0).produced;
  EXPECT_FALSE(area_->is_quiet());
  collect();
  HookBatch last;
  area_->end(last);
  EXPECT_EQ(last.lost, 1u);
  EXPECT_EQ(last.damaged, 0u);
}

TEST_F(HookAreaTest, ADamagedRingDoesNotAffectOthers) {
  time(0, 10);
  time(1, 10);
  append(0, std::vector<std::byte>(64, std::byte{0xff}));
  hook(1, 7, 10);
  const HookBatch batch = collect();
  EXPECT_EQ(tags(batch), (std::vector<uint32_t>{7}));
  EXPECT_EQ(batch.damaged, 1u);
  hook(1, 8, 11);
  EXPECT_EQ(tags(collect()), (std::vector<uint32_t>{8}));
}

TEST_F(HookAreaTest, APositionBeyondTheRingIsDamage) {
  head().used = 1;
  ring_head(0).committed = ring_bytes + 1;
  expect_damaged();
}

TEST_F(HookAreaTest, ADecreasingPositionIsDamage) {
  time(0, 10);
  collect();
  ring_head(0).committed = 4;
  expect_damaged();
}

TEST_F(HookAreaTest, AConsumedPositionWrittenByTheProcessIsDamage) {
  time(0, 10);
  ring_head(0).consumed = 1000;
  expect_damaged();
}

TEST_F(HookAreaTest, ADecreasingOrFutureTimeIsDamage) {
  time(0, 10);
  hook(0, 1, 10);
  hook(0, 2, 9);
  EXPECT_EQ(collect().damaged, 1u);
  time(1, trace_clock() + 3'600'000'000'000);
  EXPECT_EQ(collect().damaged, 1u);
}

TEST_F(HookAreaTest, AnInvalidCpuIsDamage) {
  time(0, 10);
  hook(0, 1, 10, cpus);
  expect_damaged();
}

TEST_F(HookAreaTest, AMajorThatIsNotForProgramsIsDamage) {
  time(0, 10);
  auto bytes = entry(1, 10, 0);
  bytes[2] = std::byte{PITRACE_MAJOR_TPROF};
  append(0, bytes);
  expect_damaged();
}

TEST_F(HookAreaTest, MoreRecordsThanFitAreDamageNotALoss) {
  time(0, 10);
  collect();
  ring_head(0).produced = 1ull << 60;
  HookBatch last;
  area_->end(last);
  EXPECT_EQ(last.damaged, 1u);
  EXPECT_EQ(last.lost, 1u);
}

TEST_F(HookAreaTest, RingsBeyondTheMaximumAreNotRead) {
  head().used = ~0u;
  EXPECT_TRUE(collect().hooks.empty());
}

TEST_F(HookAreaTest, RandomBytesAreHandled) {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    set_up();
    time(0, 10);
    for (uint32_t i = 0; i < 50; ++i) hook(0, i, 10 + i);
    for (int i = 0; i < 4; ++i)
      data(0)[random() % ring_head(0).committed] = static_cast<std::byte>(random());
    if (random() % 4 == 0) ring_head(0).committed = random() % (2 * ring_bytes);
    const HookBatch batch = collect();
    (void)tags(batch);
    HookBatch last;
    area_->end(last);
  }
}

TEST_F(HookAreaTest, AJavaHookGetsThePidOfItsWriterWhateverItContains) {
  const uint64_t now = trace_clock();
  time(0, now);
  java_hook(0, now);
  const auto batch = collect();
  ASSERT_EQ(batch.hooks.size(), 1u);
  const RecordView record{batch.record(batch.hooks[0])};
  EXPECT_EQ(record.int_at(PITRACE_JITTED_INTERVAL), 7u);
  EXPECT_EQ(record.int_at(PITRACE_JITTED_PID), process_id);
  EXPECT_EQ(record.int_at(PITRACE_JITTED_ADDR_LO), 4u);
}

}  // namespace
}  // namespace pi::perfutil
