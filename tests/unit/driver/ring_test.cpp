// SPDX-License-Identifier: MIT
// The module's ring on the host, step by step; ring_storm_test.cpp tests concurrent writers.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include <pi/decode.h>

#include <pitrace/ring.h>

namespace {

// The clock that the ring reads. A test can set a function that writes records when it is read.
std::function<__u64()> clock_now;

}  // namespace

__u64 pitrace_clock() {
  return clock_now();
}

namespace {

constexpr __u32 record_size = PITRACE_TPROF_SIZE;
constexpr __u64 second_half = 1ull << 32;

struct Seen {
  __u64 time;
  __u32 tag;
};

class RingTest : public testing::Test {
 protected:
  void SetUp() override {
    clock_now = [this] { return now_; };
    set_size(4096);
  }

  void set_size(std::size_t bytes) {
    data_.assign(bytes, 0);
    ring_ = {};
    ring_.data = data_.data();
    ring_.size = bytes;
    ring_.head = &head_;
    head_.data_size = bytes;
    pitrace_ring_reset(&ring_, 0, false);
  }

  void* reserve(__u32 size, __u64* time) { return pitrace_ring_reserve(&ring_, size, time); }

  // Writes a complete record that contains a tag; returns false when it did not fit.
  bool write(__u32 tag) {
    __u64 time;
    pitrace_ring_enter(&ring_);
    void* place = reserve(record_size, &time);
    if (place)
      pitrace_encode_tprof(place, static_cast<__u32>(time), 1, tag, 0, 0, 0);
    else
      pitrace_ring_lose(&ring_, PITRACE_LOST_FULL);
    pitrace_ring_leave(&ring_);
    return place != nullptr;
  }

  __u64 committed() const { return __atomic_load_n(&head_.committed, __ATOMIC_ACQUIRE); }

  // Returns the records between two offsets, with full times; each must be valid. high is the high
  // half of the time before the first.
  std::vector<Seen> walk(__u64 from, __u64 to, __u32& high) const {
    std::vector<Seen> seen;
    for (__u64 at = from; at < to;) {
      const pi::RecordView record{std::as_bytes(std::span(data_)).subspan(at, to - at)};
      if (!record.valid()) {
        ADD_FAILURE() << "no record at " << at;
        break;
      }
      if (!pi::decode_time(record, high)) {
        pi::TprofTick tick{};
        EXPECT_TRUE(pi::decode_tprof(record, tick)) << "at " << at;
        seen.push_back({static_cast<__u64>(high) << 32 | record.time_lo(), tick.pid});
      }
      at += record.length();
    }
    return seen;
  }

  std::vector<Seen> walk() const {
    __u32 high = 0;
    return walk(0, committed(), high);
  }

  void expect_counts_add_up() const {
    __u64 lost = 0;
    for (const __u64 reason : head_.lost) lost += reason;
    EXPECT_EQ(head_.produced, head_.written + lost);
  }

  __u64 now_ = 5;
  std::vector<__u8> data_;
  pitrace_buffer_head head_{};
  pitrace_ring ring_{};
};

TEST_F(RingTest, TheFirstRecordIsPrecededByTheTime) {
  now_ = 3 * second_half + 7;
  ASSERT_TRUE(write(1));
  EXPECT_EQ(committed(), PITRACE_TIME_SIZE + record_size);
  const auto seen = walk();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].time, now_);
  EXPECT_EQ(head_.written, 1u);  // the time record does not count
}

TEST_F(RingTest, AChangeOfTheHighHalfWritesOneTimeRecord) {
  now_ = second_half - 1;
  ASSERT_TRUE(write(1));
  now_ = second_half + 1;
  ASSERT_TRUE(write(2));
  now_ = second_half + 2;
  ASSERT_TRUE(write(3));
  EXPECT_EQ(committed(), 2 * PITRACE_TIME_SIZE + 3 * record_size);
  const auto seen = walk();
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].time, second_half - 1);
  EXPECT_EQ(seen[1].time, second_half + 1);
  EXPECT_EQ(seen[2].time, second_half + 2);
}

TEST_F(RingTest, RecordTimesNeverDecrease) {
  now_ = 2 * second_half;
  ASSERT_TRUE(write(1));
  now_ = 2 * second_half - 1;
  ASSERT_TRUE(write(2));
  EXPECT_EQ(walk().at(1).time, 2 * second_half);
  EXPECT_EQ(head_.last_time, 2 * second_half);
}

TEST_F(RingTest, ARecordThatFitsExactlyIsWrittenAndTheNextIsLost) {
  set_size(PITRACE_TIME_SIZE + 2 * record_size);
  EXPECT_TRUE(write(1));
  EXPECT_TRUE(write(2));
  EXPECT_FALSE(write(3));
  EXPECT_EQ(walk().size(), 2u);
  EXPECT_EQ(head_.lost[PITRACE_LOST_FULL], 1u);
  expect_counts_add_up();
}

TEST_F(RingTest, ARecordWithoutSpaceForItsTimeRecordIsLost) {
  set_size(2 * PITRACE_TIME_SIZE + 2 * record_size - 4);
  EXPECT_TRUE(write(1));
  now_ = second_half;
  EXPECT_FALSE(write(2));
  EXPECT_EQ(committed(), PITRACE_TIME_SIZE + record_size);
}

TEST_F(RingTest, NothingFitsIntoAFullBuffer) {
  set_size(0);
  EXPECT_FALSE(write(1));
  expect_counts_add_up();
}

TEST_F(RingTest, OnlyTheOutermostWriterPublishes) {
  __u64 time;
  pitrace_ring_enter(&ring_);
  void* place = reserve(record_size, &time);
  ASSERT_NE(place, nullptr);
  ASSERT_TRUE(write(2));  // nested writer: complete record after a reserved, unfilled slot
  EXPECT_EQ(committed(), 0u);
  pitrace_encode_tprof(place, static_cast<__u32>(time), 1, 1, 0, 0, 0);
  pitrace_ring_leave(&ring_);
  const auto seen = walk();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].tag, 1u);
  EXPECT_EQ(seen[1].tag, 2u);
}

TEST_F(RingTest, AWriterInterruptedAfterReadingTheClockReadsItAgain) {
  int readings = 0;
  clock_now = [&] {
    if (++readings == 1) {
      now_ = 20;
      // A nested writer between the outer writer's clock reading and its reservation: the outer
      // writer's time is older than the nested record.
      EXPECT_TRUE(write(2));
      return __u64{10};
    }
    return now_++;
  };
  ASSERT_TRUE(write(1));
  const auto seen = walk();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].tag, 2u);
  EXPECT_EQ(seen[1].tag, 1u);
  EXPECT_EQ(seen[0].time, 20u);
  EXPECT_EQ(seen[1].time, 21u);
  EXPECT_EQ(readings, 3);
}

TEST_F(RingTest, ResetClearsTheBufferAndItsCounts) {
  ASSERT_TRUE(write(1));
  pitrace_ring_reset(&ring_, 0, false);
  EXPECT_EQ(committed(), 0u);
  EXPECT_EQ(head_.produced, 0u);
  EXPECT_EQ(head_.written, 0u);
  ASSERT_TRUE(write(2));
  EXPECT_EQ(walk().at(0).tag, 2u);
}

}  // namespace
