// SPDX-License-Identifier: MIT
// One stream: records across sections and windows, times, damage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "read/stream.h"
#include "record_builder.h"

namespace {

using namespace test_support;
using post::DamageLog;
using post::Extent;
using post::MemorySource;
using post::Stream;
using post::StreamLayout;
using testing::ElementsAre;
using testing::HasSubstr;

StreamLayout layout_of(std::vector<Extent> extents, uint32_t time_high = 0) {
  return {{3, false}, false, time_high, std::move(extents)};
}

std::vector<uint64_t> times_of(const Bytes& bytes, const StreamLayout& layout, DamageLog& damage) {
  MemorySource source(bytes);
  Stream stream(source, layout, damage);
  std::vector<uint64_t> times;
  while (stream.next()) times.push_back(stream.time());
  EXPECT_FALSE(stream.next());
  return times;
}

TEST(Stream, EmptyStreamsAreValid) {
  DamageLog damage;
  EXPECT_THAT(times_of({}, layout_of({}), damage), ElementsAre());
  EXPECT_THAT(times_of({}, layout_of({{0, 0, false}}), damage), ElementsAre());
  EXPECT_FALSE(damage.any());
}

TEST(Stream, TimeRecordsSetTheHighHalf) {
  RecordBuilder records;
  records.tick(0x41fffffff0, true, 1, 1, 1).tick(0x4200000001, true, 1, 1, 1);
  DamageLog damage;
  EXPECT_THAT(times_of(records.bytes(), layout_of({{0, records.bytes().size(), false}}), damage),
              ElementsAre(0x41fffffff0, 0x41fffffff0, 0x4200000001, 0x4200000001));
  EXPECT_FALSE(damage.any());
}

TEST(Stream, ReadsRecordsSplitAcrossSectionsAnywhere) {
  RecordBuilder records;
  for (uint64_t i = 0; i < 5; ++i) records.tick(100 + i, true, 1, 1, i);
  const size_t size = records.bytes().size();
  for (size_t first = 0; first <= size; ++first) {
    for (size_t second = first; second <= size; ++second) {
      DamageLog damage;
      const StreamLayout layout = layout_of(
          {{0, first, false}, {first, second - first, false}, {second, size - second, false}});
      EXPECT_EQ(times_of(records.bytes(), layout, damage).size(), 6u);
      ASSERT_FALSE(damage.any()) << first << " " << second;
    }
  }
}

TEST(Stream, ReadsMoreThanItsWindowWithRecordsAcrossItsEdges) {
  RecordBuilder records;
  constexpr uint64_t count = 100'000;
  for (uint64_t i = 0; i < count; ++i) {
    records.tick(i, true, 1, 1, i * 3);
    if (i % 1000 == 0) records.string(i, PITRACE_MTE_NAME, {1}, std::string(i / 100, 'x'));
  }
  MemorySource source(records.bytes());
  DamageLog damage;
  const StreamLayout layout = layout_of({{0, records.bytes().size(), false}});
  Stream stream(source, layout, damage);
  uint64_t ticks = 0;
  while (stream.next()) {
    pi::TprofTick tick{};
    if (!pi::decode_tprof(stream.record(), tick)) continue;
    ASSERT_EQ(tick.address, ticks * 3);
    ASSERT_EQ(stream.time(), ticks);
    ASSERT_EQ(std::memcmp(records.bytes().data() + stream.file_offset(),
                          stream.record().bytes().data(), 28),
              0);
    ++ticks;
  }
  EXPECT_EQ(ticks, count);
  EXPECT_EQ(stream.counted(), count + 100);
  EXPECT_FALSE(damage.any());
}

TEST(Stream, TheLongestRecordIsRead) {
  Bytes bytes(PITRACE_LENGTH_MASK);
  const std::vector<uint32_t> ints((PITRACE_LENGTH_MASK - 12) / 4, 9);
  pitrace_encode_ints(bytes.data(), 5, 0x77, 1, ints.data(), static_cast<uint32_t>(ints.size()));
  Bytes twice = bytes;
  for (int i = 0; i < 9; ++i) twice.insert(twice.end(), bytes.begin(), bytes.end());
  DamageLog damage;
  EXPECT_EQ(times_of(twice, layout_of({{0, twice.size(), false}}), damage).size(), 10u);
  EXPECT_FALSE(damage.any());
}

TEST(Stream, ADecreasingTimeIsReplacedByThePreviousTime) {
  RecordBuilder records(false);
  records.tick(100, true, 1, 1, 1).tick(90, true, 1, 1, 1).tick(105, true, 1, 1, 1);
  DamageLog damage;
  EXPECT_THAT(times_of(records.bytes(), layout_of({{0, 84, false}}, 1), damage),
              ElementsAre(0x100000064, 0x100000064, 0x100000069));
  EXPECT_THAT(damage.messages(), ElementsAre(HasSubstr("runs back by 10 ns at file offset 28")));
  EXPECT_EQ(damage.bytes(), 0u);
}

TEST(Stream, ARecordCutByAGapIsDroppedAndReadingContinues) {
  RecordBuilder records(false);
  records.tick(100, true, 1, 1, 1).tick(110, true, 1, 1, 1).tick(120, true, 1, 1, 1);
  DamageLog damage;
  // Only the first 20 bytes of the second record are present.
  EXPECT_THAT(times_of(records.bytes(), layout_of({{0, 48, false}, {56, 28, true}}), damage),
              ElementsAre(100, 120));
  EXPECT_THAT(damage.messages(), ElementsAre(HasSubstr("cut off at file offset 28")));
  EXPECT_EQ(damage.bytes(), 20u);
}

TEST(Stream, ADamagedRecordLosesFewOtherRecords) {
  RecordBuilder records(false);
  constexpr uint64_t count = 30'000;
  for (uint64_t i = 0; i < count; ++i)
    records.tick(1'000'000 * i, i % 3 != 0, static_cast<uint32_t>(0x1000 + i % 7), 0x2000,
                 0x7fff00000000 + i * 64);
  // Flips every bit of a record in the middle, which crosses the edge of two windows.
  const size_t place = 28 * (256 * 1024 / 28);
  for (size_t bit = 0; bit < 28 * 8; ++bit) {
    Bytes bytes = records.bytes();
    bytes[place + bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    DamageLog damage;
    const size_t read = times_of(bytes, layout_of({{0, bytes.size(), false}}), damage).size();
    // A wrong length may skip up to the maximum record length of 65,532 bytes.
    ASSERT_GE(read, count - 65536 / 28 - 8) << bit;
    ASSERT_LE(read, count + 2) << bit;
  }
}

// A source that is shorter than the size it reported.
class ShrinkingSource final : public post::ByteSource {
 public:
  ShrinkingSource(std::span<const std::byte> bytes, uint64_t size) : memory_(bytes), size_(size) {}
  uint64_t size() const override { return size_; }
  size_t read(uint64_t offset, std::span<std::byte> out) override {
    return memory_.read(offset, out);
  }
  const std::string& error() const override { return memory_.error(); }

 private:
  MemorySource memory_;
  uint64_t size_;
};

TEST(Stream, AShrinkingFileEndsTheStreamWithAMessage) {
  RecordBuilder records(false);
  records.tick(100, true, 1, 1, 1).tick(110, true, 1, 1, 1);
  ShrinkingSource source(std::span(records.bytes()).first(40), 1000);
  DamageLog damage;
  const StreamLayout layout = layout_of({{0, 56, false}, {56, 28, false}, {84, 28, false}});
  Stream stream(source, layout, damage);
  EXPECT_TRUE(stream.next());
  EXPECT_FALSE(stream.next());
  EXPECT_FALSE(stream.next());
  ASSERT_EQ(damage.messages().size(), 2u);
  EXPECT_THAT(damage.messages()[0], HasSubstr("72 bytes from file offset 40 on cannot be read"));
  EXPECT_THAT(damage.messages()[1], HasSubstr("cut off at file offset 28"));
}

}  // namespace
