// SPDX-License-Identifier: MIT
// Reading perf's mapped page with rdpmc, with a page and a counter of the test.
#include "ptt/ptt_page.h"

#include <gtest/gtest.h>

#include <vector>

namespace pi::perfutil {
namespace {

class PttPage : public testing::Test {
 protected:
  PttPage() {
    page_.lock = 2;
    page_.index = 3;
    page_.offset = 1000;
    page_.pmc_width = 48;
    page_.cap_user_rdpmc = 1;
    page_.time_enabled = page_.time_running = 77;
  }
  perf_event_mmap_page page_{};
};

TEST_F(PttPage, TheCountIsTheOffsetAndTheCounterOfTheIndexLessOne) {
  uint32_t read_index = 99;
  const auto count = read_page(page_, [&](uint32_t index) {
    read_index = index;
    return uint64_t{234};
  });
  EXPECT_EQ(count, 1234u);
  EXPECT_EQ(read_index, 2u);
}

// The kernel presets counters to minus the period, and its offset compensates for that.
TEST_F(PttPage, ACounterIsASignedNumberOfItsWidth) {
  page_.offset = int64_t{1} << 47;
  const uint64_t preset = uint64_t{1} << 47;
  EXPECT_EQ(read_page(page_, [&](uint32_t) { return preset; }), 0u);
  EXPECT_EQ(read_page(page_, [&](uint32_t) { return preset + 5; }), 5u);
  EXPECT_EQ(read_page(page_, [&](uint32_t) { return (uint64_t{1} << 48) - 1; }),
            (uint64_t{1} << 47) - 1);
  EXPECT_EQ(read_page(page_, [&](uint32_t) { return uint64_t{3}; }), (uint64_t{1} << 47) + 3);
}

TEST_F(PttPage, AllWidthsAreExtended) {
  for (uint32_t width = 1; width <= 64; ++width) {
    const uint64_t top = uint64_t{1} << (width - 1);
    EXPECT_EQ(sign_extend(top, width), ~(top - 1)) << width;
    EXPECT_EQ(sign_extend(top - 1, width), top - 1) << width;
  }
}

// Between the two reads the processor's counter is given to another event and restarts.
TEST_F(PttPage, ACounterThatIsReprogrammedMeanwhileIsReadAgain) {
  std::vector<uint32_t> indexes;
  const auto count = read_page(page_, [&](uint32_t index) {
    indexes.push_back(index);
    if (indexes.size() == 1) {
      page_.lock = page_.lock + 2;
      page_.index = 1;
      page_.offset = 5000;
      return uint64_t{0xdeadbeef};
    }
    return uint64_t{1};
  });
  EXPECT_EQ(count, 5001u);
  EXPECT_EQ(indexes, (std::vector<uint32_t>{2, 0}));
}

TEST_F(PttPage, AnEventThatCannotBeReadFromThePageHasNoCount) {
  const auto read = [&] { return read_page(page_, [](uint32_t) { return uint64_t{1}; }); };
  EXPECT_TRUE(read());
  page_.time_running = 76;
  EXPECT_FALSE(read());
  page_.time_running = 77;
  page_.index = 0;
  EXPECT_FALSE(read());
  page_.index = 3;
  page_.cap_user_rdpmc = 0;
  EXPECT_FALSE(read());
  page_.cap_user_rdpmc = 1;
  page_.pmc_width = 65;
  EXPECT_FALSE(read());
}

}  // namespace
}  // namespace pi::perfutil
