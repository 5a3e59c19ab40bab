// SPDX-License-Identifier: MIT
// Buffers in memory: order of time, what is counted, what a full one does to the others.
#include "user_buffer.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "perfutil.h"
#include "streams.h"

namespace pi::perfutil {
namespace {

using test::lines_of;
using test::records_of;

UserBuffer make_buffer(uint64_t bytes, RecordingState* state) {
  auto buffer = UserBuffer::create(bytes, state);
  EXPECT_TRUE(buffer);
  return std::move(*buffer);
}

uint64_t sum_lost(const Counts& counts) {
  return std::accumulate(counts.lost.begin(), counts.lost.end(), uint64_t{0});
}

TEST(UserBuffer, TheFirstRecordIsPrecededByTheHighHalfOfTimeWhichIsNotCounted) {
  RecordingState state;
  UserBuffer buffer = make_buffer(65536, &state);
  buffer.put_tprof(0x500000007, true, 10, 11, 0x1234567890);
  const RecordView first(buffer.records());
  uint32_t high = 0;
  ASSERT_TRUE(decode_time(first, high));
  EXPECT_EQ(high, 5u);
  EXPECT_EQ(lines_of(buffer.records()),
            (std::vector<std::string>{"10/23 @21474836487 a b 12 34567890"}));
  EXPECT_EQ(buffer.counts().produced, 1u);
  EXPECT_EQ(buffer.counts().written, 1u);
  EXPECT_EQ(buffer.records().size(), 16u + PITRACE_TPROF_SIZE);
}

TEST(UserBuffer, AChangeOfTheHighHalfIsAnnouncedOnce) {
  RecordingState state;
  UserBuffer buffer = make_buffer(65536, &state);
  buffer.put_tprof(0xffffffff, true, 1, 1, 1);
  buffer.put_tprof(0x100000000, true, 1, 1, 2);
  buffer.put_tprof(0x100000001, true, 1, 1, 3);
  EXPECT_EQ(buffer.records().size(), 2 * 16u + 3 * PITRACE_TPROF_SIZE);
  const auto records = records_of(buffer.records());
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].time, 0xffffffffu);
  EXPECT_EQ(records[1].time, 0x100000000u);
  EXPECT_EQ(records[2].time, 0x100000001u);
}

TEST(UserBuffer, TimeNeverRunsBackWithinAStream) {
  RecordingState state;
  UserBuffer buffer = make_buffer(65536, &state);
  buffer.put_tprof(0x200000010, true, 1, 1, 1);
  buffer.put_tprof(0x1fffffff0, true, 1, 1, 2);
  const auto records = records_of(buffer.records());
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1].time, 0x200000010u);
  EXPECT_EQ(buffer.last_time(), 0x200000010u);
}

TEST(UserBuffer, AFullBufferStopsRecordingInEveryOther) {
  BufferSet set(PI_BUFFER_BYTES_MIN, PI_BUFFER_BYTES_MIN);
  ASSERT_TRUE(set.add_cpu(0));
  ASSERT_TRUE(set.add_cpu(3));
  UserBuffer& filled = set.at(0, PITRACE_BUFFER_TRACE);
  const uint64_t fits = (PI_BUFFER_BYTES_MIN - 16) / PITRACE_TPROF_SIZE;
  for (uint64_t i = 0; i < fits; ++i) filled.put_tprof(i, true, 1, 1, i);
  EXPECT_FALSE(set.full());
  filled.put_tprof(fits, true, 1, 1, 0);
  EXPECT_TRUE(set.full());
  filled.put_tprof(fits, true, 1, 1, 0);
  set.at(3, PITRACE_BUFFER_MTE).put_ints(1, PITRACE_MAJOR_MTE, PITRACE_MTE_KILL, {7});
  EXPECT_EQ(filled.counts().written, fits);
  EXPECT_EQ(filled.counts().lost[PITRACE_LOST_FULL], 1u);
  EXPECT_EQ(filled.counts().lost[PITRACE_LOST_STOPPED], 1u);
  EXPECT_EQ(set.at(3, PITRACE_BUFFER_MTE).counts().lost[PITRACE_LOST_STOPPED], 1u);
  EXPECT_EQ(set.at(3, PITRACE_BUFFER_MTE).records().size(), 0u);
}

TEST(UserBuffer, ANameTooLongForReadersIsCountedAndRecordingGoesOn) {
  RecordingState state;
  UserBuffer buffer = make_buffer(65536, &state);
  buffer.put_module(1, {}, std::string(PITRACE_MAX_STRING + 1, 'x'));
  buffer.put_module(2, {}, std::string(PITRACE_MAX_STRING, 'y'));
  EXPECT_EQ(buffer.counts().lost[PITRACE_LOST_TOO_LONG], 1u);
  EXPECT_EQ(buffer.counts().written, 1u);
  EXPECT_FALSE(state.full);
}

TEST(UserBuffer, ResetForgetsContentsAndCounts) {
  BufferSet set(PI_BUFFER_BYTES_MIN, PI_BUFFER_BYTES_MIN);
  ASSERT_TRUE(set.add_cpu(0));
  UserBuffer& buffer = set.at(0, PITRACE_BUFFER_TRACE);
  for (int i = 0; i < 10000; ++i) buffer.put_tprof(9, true, 1, 1, 1);
  ASSERT_TRUE(set.full());
  set.reset();
  EXPECT_FALSE(set.full());
  EXPECT_EQ(buffer.counts().produced, 0u);
  EXPECT_TRUE(buffer.records().empty());
  buffer.put_tprof(3, true, 1, 1, 1);
  EXPECT_EQ(records_of(buffer.records())[0].time, 3u);
}

// Whatever is put in, in whatever order: produced = written + lost, as many records can be read
// back as were written, and their times do not run back.
TEST(UserBuffer, ProducedIsWrittenPlusLostForAnySequence) {
  std::mt19937_64 random(20240607);
  for (int round = 0; round < 50; ++round) {
    BufferSet set(PI_BUFFER_BYTES_MIN, PI_BUFFER_BYTES_MIN);
    ASSERT_TRUE(set.add_cpu(0));
    ASSERT_TRUE(set.add_cpu(1));
    uint64_t put = 0, by_source = 0, time = random() >> (random() % 40);
    const uint64_t count = random() % 6000;
    for (uint64_t i = 0; i < count; ++i) {
      UserBuffer& buffer =
          set.at(static_cast<uint32_t>(random() % 2), static_cast<uint32_t>(random() % 2));
      time += random() % 0x40000000;
      const uint64_t shifted = time - random() % 1000 % (time + 1);
      switch (random() % 5) {
        case 0:
          buffer.put_ints(shifted, PITRACE_MAJOR_MTE, PITRACE_MTE_PARENT, {1, 2, 3});
          break;
        case 1:
          buffer.put_name(shifted, PITRACE_MTE_NAME, {1, PITRACE_NAME_64},
                          std::string(random() % 17, 'n'));
          break;
        case 2:
          buffer.put_module(shifted, {}, std::string(random() % 2100, 'm'));
          break;
        case 3:
          by_source += 3;
          buffer.count_lost_by_source(3);
          continue;
        default:
          buffer.put_tprof(shifted, random() % 2, 1, 2, random());
      }
      ++put;
    }
    uint64_t produced = 0;
    for (const auto& view : set.views()) {
      EXPECT_EQ(view.counts.produced, view.counts.written + sum_lost(view.counts));
      produced += view.counts.produced;
      bool whole = false;
      const auto records = records_of(view.records, &whole);
      EXPECT_TRUE(whole);
      EXPECT_EQ(records.size(), view.counts.written);
      uint64_t before = 0;
      for (const auto& record : records) {
        EXPECT_GE(record.time, before);
        before = record.time;
      }
    }
    EXPECT_EQ(produced, put + by_source);
  }
}

}  // namespace
}  // namespace pi::perfutil
