// SPDX-License-Identifier: MIT
// Reading a perf ring: wrapped records, wrapped headers, invalid contents.
#include "events/perf_ring.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

namespace pi::perfutil {
namespace {

constexpr size_t page = 4096;

// A ring in plain memory; the test acts as the kernel.
class FakeRing {
 public:
  explicit FakeRing(size_t bytes) : size_(bytes) {
    void* memory =
        ::mmap(nullptr, page + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    base_ = static_cast<std::byte*>(memory);
    ring = PerfRing(UniqueMapping(memory, page + bytes), page);
  }
  perf_event_mmap_page* control() { return reinterpret_cast<perf_event_mmap_page*>(base_); }
  void write(const void* bytes, size_t count) {
    for (size_t i = 0; i < count; ++i)
      base_[page + (control()->data_head + i) % size_] = static_cast<const std::byte*>(bytes)[i];
    control()->data_head += count;
  }
  // A record whose body is filled with value.
  void put(uint32_t type, uint16_t size, uint8_t value) {
    std::vector<std::byte> record(size, std::byte{value});
    perf_event_header header{};
    header.type = type;
    header.size = size;
    std::memcpy(record.data(), &header, sizeof header);
    write(record.data(), size);
  }
  void start_at(uint64_t position) {
    control()->data_head = position;
    control()->data_tail = position;
  }

  PerfRing ring;

 private:
  size_t size_;
  std::byte* base_;
};

TEST(PerfRing, RecordsAreReadWholeAndInOrderOverManyRoundsOfTheRing) {
  FakeRing fake(page);
  uint32_t written = 0, read = 0;
  for (int round = 0; round < 500; ++round) {
    for (uint16_t size = 8; size <= 248; size = static_cast<uint16_t>(size + 48))
      fake.put(written++, size, static_cast<uint8_t>(size));
    EXPECT_TRUE(fake.ring.drain([&](std::span<const std::byte> record) {
      perf_event_header header;
      std::memcpy(&header, record.data(), sizeof header);
      ASSERT_EQ(header.type, read++);
      ASSERT_EQ(header.size, record.size());
      for (size_t i = sizeof header; i < record.size(); ++i)
        ASSERT_EQ(record[i], static_cast<std::byte>(header.size));
    }));
  }
  EXPECT_EQ(read, written);
  EXPECT_EQ(fake.control()->data_tail, fake.control()->data_head);
}

TEST(PerfRing, AHeaderMayWrapAroundTheEnd) {
  FakeRing fake(page);
  for (size_t before = 1; before < 8; ++before) {
    fake.start_at(page - before);
    fake.put(77, 32, 0xab);
    int count = 0;
    EXPECT_TRUE(fake.ring.drain([&](std::span<const std::byte> record) {
      ++count;
      ASSERT_EQ(record.size(), 32u);
      EXPECT_EQ(record[31], std::byte{0xab});
    }));
    EXPECT_EQ(count, 1);
  }
}

TEST(PerfRing, ARingFilledToTheLastByteIsReadWhole) {
  FakeRing fake(page);
  fake.start_at(page * 7 + 2040);
  for (int i = 0; i < 64; ++i) fake.put(1, 64, 0);
  int count = 0;
  EXPECT_TRUE(fake.ring.drain([&](auto) { ++count; }));
  EXPECT_EQ(count, 64);
}

TEST(PerfRing, ARecordOfImpossibleSizeEndsTheReadingAndIsReported) {
  for (const uint16_t size : {uint16_t{0}, uint16_t{7}, uint16_t{200}}) {
    FakeRing fake(page);
    fake.put(1, 64, 0);
    perf_event_header bad{};
    bad.size = size;
    fake.write(&bad, sizeof bad);
    int count = 0;
    EXPECT_FALSE(fake.ring.drain([&](auto) { ++count; }));
    EXPECT_EQ(count, 1);
    EXPECT_EQ(fake.control()->data_tail, fake.control()->data_head);
  }
}

TEST(PerfRing, AHeadBeyondTheRingIsReportedAndNothingIsRead) {
  FakeRing fake(page);
  fake.control()->data_head = 3 * page;
  EXPECT_FALSE(fake.ring.drain([](auto) { FAIL(); }));
}

}  // namespace
}  // namespace pi::perfutil
