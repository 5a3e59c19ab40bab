// SPDX-License-Identifier: MIT
// Buffers in memory: time order, counts, and the effect of a full buffer on the others.
#include "source/user_buffer.h"

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
  auto buffer = UserBuffer::create(bytes, 0, PITRACE_BUFFER_TRACE, state);
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
  const RecordView first(buffer.unread().records);
  uint32_t high = 0;
  ASSERT_TRUE(decode_time(first, high));
  EXPECT_EQ(high, 5u);
  EXPECT_EQ(lines_of(buffer.unread().records),
            (std::vector<std::string>{"10/23 @21474836487 a b 12 34567890"}));
  EXPECT_EQ(buffer.unread().counts.produced, 1u);
  EXPECT_EQ(buffer.unread().counts.written, 1u);
  EXPECT_EQ(buffer.unread().records.size(), 16u + PITRACE_TPROF_SIZE);
}

TEST(UserBuffer, AChangeOfTheHighHalfWritesOneTimeRecord) {
  RecordingState state;
  UserBuffer buffer = make_buffer(65536, &state);
  buffer.put_tprof(0xffffffff, true, 1, 1, 1);
  buffer.put_tprof(0x100000000, true, 1, 1, 2);
  buffer.put_tprof(0x100000001, true, 1, 1, 3);
  EXPECT_EQ(buffer.unread().records.size(), 2 * 16u + 3 * PITRACE_TPROF_SIZE);
  const auto records = records_of(buffer.unread().records);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].time, 0xffffffffu);
  EXPECT_EQ(records[1].time, 0x100000000u);
  EXPECT_EQ(records[2].time, 0x100000001u);
}

TEST(UserBuffer, TimesNeverDecreaseWithinAStream) {
  RecordingState state;
  UserBuffer buffer = make_buffer(65536, &state);
  buffer.put_tprof(0x200000010, true, 1, 1, 1);
  buffer.put_tprof(0x1fffffff0, true, 1, 1, 2);
  const auto records = records_of(buffer.unread().records);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1].time, 0x200000010u);
  EXPECT_EQ(buffer.unread().last_time, 0x200000010u);
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
  EXPECT_EQ(filled.unread().counts.written, fits);
  EXPECT_EQ(filled.unread().counts.lost[PITRACE_LOST_FULL], 1u);
  EXPECT_EQ(filled.unread().counts.lost[PITRACE_LOST_STOPPED], 1u);
  EXPECT_EQ(set.at(3, PITRACE_BUFFER_MTE).unread().counts.lost[PITRACE_LOST_STOPPED], 1u);
  EXPECT_EQ(set.at(3, PITRACE_BUFFER_MTE).unread().records.size(), 0u);
}

TEST(UserBuffer, ANameThatIsTooLongIsCountedAndRecordingContinues) {
  RecordingState state;
  UserBuffer buffer = make_buffer(65536, &state);
  buffer.put_module(1, {}, std::string(PITRACE_MAX_STRING + 1, 'x'));
  buffer.put_module(2, {}, std::string(PITRACE_MAX_STRING, 'y'));
  EXPECT_EQ(buffer.unread().counts.lost[PITRACE_LOST_TOO_LONG], 1u);
  EXPECT_EQ(buffer.unread().counts.written, 1u);
  EXPECT_FALSE(state.full);
}

TEST(UserBuffer, ResetClearsContentsAndCounts) {
  BufferSet set(PI_BUFFER_BYTES_MIN, PI_BUFFER_BYTES_MIN);
  ASSERT_TRUE(set.add_cpu(0));
  UserBuffer& buffer = set.at(0, PITRACE_BUFFER_TRACE);
  for (int i = 0; i < 10000; ++i) buffer.put_tprof(9, true, 1, 1, 1);
  ASSERT_TRUE(set.full());
  for (const uint32_t kind : {PITRACE_BUFFER_TRACE, PITRACE_BUFFER_MTE}) set.reset(kind);
  EXPECT_FALSE(set.full());
  EXPECT_EQ(buffer.unread().counts.produced, 0u);
  EXPECT_TRUE(buffer.unread().records.empty());
  buffer.put_tprof(3, true, 1, 1, 1);
  EXPECT_EQ(records_of(buffer.unread().records)[0].time, 3u);
}

// A reader takes a stream section by section, with a disk that is sometimes too slow.
TEST(UserBuffer, AStreamKeepsUnconsumedRecordsAndMarksWhereItLostOthers) {
  std::mt19937_64 random(7);
  constexpr uint64_t section = 8192;
  BufferSet set(PI_BUFFER_BYTES_MIN, PI_BUFFER_BYTES_MIN, PITRACE_MODE_CONTINUOUS, section);
  ASSERT_TRUE(set.add_cpu(0));
  UserBuffer& buffer = set.at(0, PITRACE_BUFFER_TRACE);
  std::vector<std::byte> file;
  uint32_t put = 0;
  bool ready = false;
  const auto take = [&] {
    const BufferView view = buffer.unread();
    file.insert(file.end(), view.records.begin(), view.records.end());
    buffer.consume(view.position + view.records.size());
  };
  for (int burst = 0; burst < 200; ++burst) {
    for (uint64_t i = random() % 6000; i > 0; --i) {
      ++put;
      buffer.put_tprof(put * 1000ull, true, put, 2, 3);
    }
    ready |= set.take_section_ready();
    take();
  }
  const Counts counts = buffer.unread().counts;
  EXPECT_TRUE(ready);
  EXPECT_FALSE(set.full());
  EXPECT_EQ(counts.produced, put);
  EXPECT_GT(counts.lost[PITRACE_LOST_FULL], 0u);
  EXPECT_EQ(counts.produced, counts.written + sum_lost(counts));
  // Every number is present, or reported as lost exactly where it is missing.
  uint64_t lost = 0, next = 1, in_file = 0;
  for (std::span<const std::byte> rest = file; !rest.empty();) {
    const RecordView record(rest);
    ASSERT_TRUE(record.valid());
    rest = rest.subspan(record.length());
    uint64_t so_far = 0;
    if (decode_lost(record, so_far)) {
      next += so_far - lost;
      lost = so_far;
    }
    TprofTick tick{};
    if (!decode_tprof(record, tick)) continue;
    ASSERT_EQ(tick.pid, next++);
    ++in_file;
  }
  EXPECT_EQ(in_file, counts.written);
}

TEST(UserBuffer, AWrappedBufferContainsTheNewestRecordsAndTheirTime) {
  for (const uint64_t count : {1ull, 2000ull, 2341ull, 2342ull, 5000ull, 100'000ull}) {
    BufferSet set(PI_BUFFER_BYTES_MIN, PI_BUFFER_BYTES_MIN, PITRACE_MODE_WRAP, 8192);
    ASSERT_TRUE(set.add_cpu(0));
    UserBuffer& buffer = set.at(0, PITRACE_BUFFER_TRACE);
    // The high half changes from time to time, sometimes more than once between two records.
    const auto time_of = [](uint64_t n) { return n * 0x3333333 + (n / 1500) * 0x500000000; };
    for (uint64_t n = 1; n <= count; ++n)
      buffer.put_tprof(time_of(n), true, static_cast<uint32_t>(n), 2, 3);
    const BufferCopy copy = buffer.copy();
    bool whole = false;
    const auto records = records_of(copy.records, &whole);
    EXPECT_TRUE(whole);
    ASSERT_FALSE(records.empty());
    EXPECT_EQ(copy.counts.written, count);
    EXPECT_EQ(copy.kept, records.size());
    // All but one block of the ring and the record across its end.
    EXPECT_GE(copy.kept, std::min<uint64_t>(count, (PI_BUFFER_BYTES_MIN - 8192) / 32));
    uint64_t n = count - records.size();
    for (const auto& record : records) EXPECT_EQ(record.time, time_of(++n));
    EXPECT_EQ(n, count);
  }
}

// For any sequence of records: produced = written + lost, as many records can be read back as were
// written, and their times do not decrease.
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
    for (const auto& view : set.unread()) {
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
