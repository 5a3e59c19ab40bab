// SPDX-License-Identifier: MIT
// Calls in any order, as a hostile process or lost records may make them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

#include "recording.h"

namespace {

using namespace heapwatch;
namespace heap_log = pi::heap_log;

Call call_of(uint32_t thread, uint64_t stack_pointer, uint64_t first, uint64_t second = 0,
             uint64_t third = 0) {
  Call call{};
  call.thread = thread;
  call.registers[rsp] = stack_pointer;
  call.registers[rdi] = first;
  call.registers[rsi] = second;
  call.registers[rdx] = third;
  return call;
}

Call return_of(uint32_t thread, uint64_t stack_pointer, uint64_t value) {
  Call call{};
  call.thread = thread;
  call.registers[rsp] = stack_pointer + 8;
  call.value = value;
  return call;
}

class HeapwatchRecording : public testing::Test {
 protected:
  HeapwatchRecording() {
    std::string pattern = testing::TempDir() + "/heapwatch-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
    EXPECT_TRUE(log_.create(directory_.c_str(), ::getpid()));
    path_ = log_.begin<heap_log::Path>(heap_log::path, 0);
  }
  ~HeapwatchRecording() override {
    ::unlink(log_.path());
    ::rmdir(directory_.c_str());
  }

  void enter(Function function, const Call& call) { recording_.enter(function, call); }
  void leave(Function function, const Call& call) {
    recording_.leave(function, call, [&]() -> heap_log::Path& { return *path_; });
  }
  void allocate(uint64_t block, uint64_t bytes) {
    enter(Function::malloc, call_of(1, 1000, bytes));
    leave(Function::malloc, return_of(1, 1000, block));
  }
  uint64_t number(heap_log::HeapNumber which) const { return path_->number[which]; }
  uint64_t lost() const { return log_.header().lost[heap_log::lost_calls]; }

  std::string directory_;
  pi::heapit::Log log_;
  heap_log::Path* path_ = nullptr;
  Recording recording_{log_};
};

TEST_F(HeapwatchRecording, BytesAreThoseOfEachFunctionsArguments) {
  const struct {
    Function function;
    Call call;
    uint64_t bytes;
  } cases[] = {
      {Function::malloc, call_of(1, 1000, 7), 7},
      {Function::calloc, call_of(1, 1000, 3, 5), 15},
      {Function::realloc, call_of(1, 1000, 0, 11), 11},
      {Function::reallocarray, call_of(1, 1000, 0, 3, 4), 12},
      {Function::posix_memalign, call_of(1, 1000, 0x10, 64, 13), 13},
      {Function::aligned, call_of(1, 1000, 64, 17), 17},
  };
  uint64_t sum = 0, block = 0x1000;
  for (const auto& one : cases) {
    enter(one.function, one.call);
    leave(one.function, return_of(1, 1000, block += 64));
    EXPECT_EQ(number(heap_log::bytes), sum += one.bytes);
  }
  EXPECT_EQ(number(heap_log::allocations), std::size(cases));
  EXPECT_EQ(log_.header().earlier_frees, 0U);
  EXPECT_EQ(lost(), 0U);
}

TEST_F(HeapwatchRecording, CallsInsideOfACallAreTheAllocatorsOwn) {
  enter(Function::realloc, call_of(1, 1000, 0, 100));
  enter(Function::malloc, call_of(1, 900, 100));
  leave(Function::malloc, return_of(1, 900, 0x5000));
  enter(Function::free, call_of(1, 900, 0x9000));
  // Another thread's call is not inside.
  enter(Function::malloc, call_of(2, 900, 8));
  leave(Function::malloc, return_of(2, 900, 0x6000));
  leave(Function::realloc, return_of(1, 1000, 0x5000));
  EXPECT_EQ(number(heap_log::allocations), 2U);
  EXPECT_EQ(number(heap_log::live_bytes), 108U);
  EXPECT_EQ(log_.header().earlier_frees, 0U);
}

TEST_F(HeapwatchRecording, ReallocEndsABlockUnlessItFails) {
  allocate(0x1000, 10);
  enter(Function::realloc, call_of(1, 1000, 0x1000, 20));
  leave(Function::realloc, return_of(1, 1000, 0));
  EXPECT_EQ(number(heap_log::live_bytes), 10U);
  enter(Function::realloc, call_of(1, 1000, 0x1000, 20));
  // Its address is another thread's before it has returned.
  enter(Function::malloc, call_of(2, 1000, 5));
  leave(Function::malloc, return_of(2, 1000, 0x1000));
  leave(Function::realloc, return_of(1, 1000, 0x2000));
  EXPECT_EQ(number(heap_log::live_bytes), 25U);
  enter(Function::realloc, call_of(1, 1000, 0x2000, 0));
  leave(Function::realloc, return_of(1, 1000, 0));
  EXPECT_EQ(number(heap_log::live_bytes), 5U);
  EXPECT_EQ(log_.header().lost[heap_log::unseen_frees], 0U);
  // One of before the recording.
  enter(Function::realloc, call_of(1, 1000, 0x7000, 1));
  leave(Function::realloc, return_of(1, 1000, 0x7000));
  enter(Function::free, call_of(1, 1000, 0x8000));
  enter(Function::free, call_of(1, 1000, 0));
  EXPECT_EQ(log_.header().earlier_frees, 2U);
}

TEST_F(HeapwatchRecording, AfterALossNoCallIsTakenForAnEarlierOne) {
  allocate(0x1000, 10);
  enter(Function::realloc, call_of(1, 1000, 0x1000, 20));
  enter(Function::malloc, call_of(2, 1000, 7));
  recording_.lose(3);
  EXPECT_EQ(lost(), 3U);
  leave(Function::malloc, return_of(2, 1000, 0x3000));
  EXPECT_EQ(number(heap_log::allocations), 1U);
  EXPECT_EQ(number(heap_log::live_bytes), 0U);
  // A deeper call is not inside of one that ended meanwhile.
  enter(Function::malloc, call_of(1, 500, 9));
  leave(Function::malloc, return_of(1, 500, 0x4000));
  EXPECT_EQ(number(heap_log::live_bytes), 9U);
  recording_.lose(3);
  EXPECT_EQ(lost(), 3U);
}

TEST_F(HeapwatchRecording, SumsHoldForAnyCalls) {
  std::mt19937 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const auto function = static_cast<Function>(random() % 8);
    const Call call = call_of(static_cast<uint32_t>(random() % 3), 1000 - random() % 3 * 8,
                              random() % 9 * 16, random() % 9, random() % 9);
    if (random() % 2 == 0)
      enter(function, call);
    else
      leave(function, return_of(call.thread, call.registers[rsp], random() % 9 * 16));
  }
  EXPECT_LE(number(heap_log::frees), number(heap_log::allocations));
  EXPECT_LE(number(heap_log::allocations) - number(heap_log::frees), 8U);
  EXPECT_LE(number(heap_log::live_bytes), number(heap_log::peak_bytes));
  EXPECT_EQ(number(heap_log::live_bytes), log_.header().live_bytes);
}

}  // namespace
