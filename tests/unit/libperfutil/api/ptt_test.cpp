// SPDX-License-Identifier: MIT
// PTT without the module, through the C API: each thread's own clock and events.
#include <gtest/gtest.h>
#include <pi/unique_fd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <thread>
#include <pi/module_advice.h>

#include "perfutil_ptt.h"

namespace {

class Ptt : public testing::Test {
 protected:
  void SetUp() override {
    if (IsDeviceDriverInstalled() != 0) GTEST_SKIP() << "needs a machine without the module";
  }
  void TearDown() override { (void)PttTerminate(); }
};

constexpr int cycles[] = {PTT_METRIC_CYCLES};

void spin() {
  for (int i = 0; i < 1'000'000; ++i) asm volatile("");
}

TEST_F(Ptt, ReadsFailBeforeInit) {
  uint64_t value = 0;
  EXPECT_EQ(PttQueryState(), 0);
  EXPECT_EQ(PttReturnGetCurrentThreadDataFunctionPtr()(&value), PU_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(PttInitThread(0), PU_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(PiPttReadCycles(PiPttSlot(), &value), 0);
  EXPECT_EQ(PttTerminate(), PU_SUCCESS);
}

TEST_F(Ptt, CyclesAreTheThreadsClock) {
  ASSERT_EQ(PttInit(1, cycles, PI_PRIV_BOTH), PU_SUCCESS) << PiErrorText();
  const pi_ptt_reader read = PttReturnGetCurrentThreadDataFunctionPtr();
  uint64_t first = 0, second = 0;
  EXPECT_EQ(read(&first), PU_ERROR_NOT_INITIALIZED);
  ASSERT_EQ(PttInitThread(0), PU_SUCCESS) << PiErrorText();
  EXPECT_EQ(PttInitThread(0), PU_SUCCESS);
  ASSERT_EQ(read(&first), PU_SUCCESS);
  spin();
  ASSERT_EQ(read(&second), PU_SUCCESS);
  EXPECT_GT(second, first);
  EXPECT_EQ(PttUnInitThread(0), PU_SUCCESS);
  EXPECT_EQ(read(&first), PU_ERROR_NOT_INITIALIZED);
}

TEST_F(Ptt, TheStateNamesPerfAsTheSourceWithoutTheModule) {
  ASSERT_EQ(PttInit(1, cycles, PI_PRIV_BOTH), PU_SUCCESS);
  EXPECT_EQ(PttInit(1, cycles, PI_PRIV_BOTH), PU_ERROR_INCORRECT_STATE);
  pi_ptt_state state{};
  EXPECT_EQ(PttGetState(nullptr), PU_ERROR_NULL_POINTER);
  EXPECT_EQ(PttGetState(&state), PU_ERROR_INVALID_PARAMETER);
  state.size = sizeof state;
  ASSERT_EQ(PttGetState(&state), PU_SUCCESS);
  EXPECT_EQ(state.source, PI_PTT_SOURCE_PERF);
  EXPECT_EQ(state.read, PI_PTT_READ_CLOCK);
  EXPECT_EQ(state.read_cycles, 0u);
  EXPECT_EQ(state.metrics, 1);
  EXPECT_EQ(state.metric[0], PTT_METRIC_CYCLES);
  EXPECT_STREQ(state.unit[0], "nanoseconds");
  EXPECT_NE(std::strstr(state.cannot_separate, "interrupts"), nullptr);
  ASSERT_EQ(PttInitThread(0), PU_SUCCESS);
  ASSERT_EQ(PttGetState(&state), PU_SUCCESS);
  EXPECT_GT(state.read_cycles, 10u);
}

TEST_F(Ptt, PageFaultsAreTheThreadsOwn) {
  const int metrics[] = {PTT_METRIC_CYCLES, PI_PTT_METRIC_PAGE_FAULTS};
  if (PttInit(2, metrics, PI_PRIV_USER) != PU_SUCCESS)
    GTEST_SKIP() << "perf events do not work here: " << PiErrorText();
  ASSERT_EQ(PttInitThread(0), PU_SUCCESS) << PiErrorText();
  uint64_t before[2], after[2];
  constexpr size_t pages = 500, page = 4096;
  ASSERT_EQ(PttGetMetricData(before), PU_SUCCESS);
  const auto touch = [] {
    const pi::UniqueMapping memory(
        ::mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
        pages * page);
    ASSERT_TRUE(memory);
    ::madvise(memory.data(), memory.size(), MADV_NOHUGEPAGE);
    // Not in code that a sanitizer instruments: its own memory has page faults as well.
    for (size_t i = 0; i < pages; ++i)
      asm volatile("movb $1, (%0)" : : "r"(memory.data() + i * page) : "memory");
  };
  touch();
  std::thread(touch).join();
  ASSERT_EQ(PttGetMetricData(after), PU_SUCCESS);
  EXPECT_GE(after[1] - before[1], pages);
  EXPECT_LT(after[1] - before[1], 2 * pages);
}

TEST_F(Ptt, AnotherThreadStartsItsOwnCounters) {
  ASSERT_EQ(PttInit(1, cycles, PI_PRIV_BOTH), PU_SUCCESS);
  EXPECT_EQ(PttInitThread(1), PU_ERROR_INVALID_THREAD);
  ASSERT_EQ(PttInitThread(0), PU_SUCCESS);
  int before = 0, own = -1;
  std::thread([&] {
    uint64_t value;
    before = PttGetMetricData(&value);
    own = PttInitThread(0);
    if (own == PU_SUCCESS) own = PttGetMetricData(&value);
  }).join();
  EXPECT_EQ(before, PU_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(own, PU_SUCCESS);
}

TEST_F(Ptt, AChildProcessStartsWithoutPtt) {
  ASSERT_EQ(PttInit(1, cycles, PI_PRIV_BOTH), PU_SUCCESS);
  ASSERT_EQ(PttInitThread(0), PU_SUCCESS);
  const pid_t child = fork();
  if (child == 0) {
    uint64_t value;
    const bool without =
        PttQueryState() == 0 && PttGetMetricData(&value) == PU_ERROR_NOT_INITIALIZED;
    _exit(without && PttInit(1, cycles, PI_PRIV_BOTH) == PU_SUCCESS ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  uint64_t value;
  EXPECT_EQ(PttGetMetricData(&value), PU_SUCCESS);
}

TEST_F(Ptt, CallsThatNeedTheModuleReportItsAbsence) {
  pi_ptt_options options{};
  const char* const names[] = {"CYCLES"};
  EXPECT_EQ(PiPttInit(1, names, PI_PRIV_BOTH, &options), PU_ERROR_INVALID_PARAMETER);
  options.size = sizeof options;
  options.flags = PI_PTT_KEEP;
  EXPECT_EQ(PiPttInit(1, names, PI_PRIV_BOTH, &options), PU_ERROR_DRIVER_NOT_LOADED);
  EXPECT_NE(std::strstr(PiErrorText(), pi::load_module_advice().c_str()), nullptr);
  ptt_stats* stats = nullptr;
  EXPECT_EQ(PttGetStatistics(&stats), PU_ERROR_DRIVER_NOT_LOADED);
  EXPECT_EQ(stats, nullptr);
  PttFreeStats(stats);
  EXPECT_EQ(PiPttEnd(), PU_ERROR_DRIVER_NOT_LOADED);
  EXPECT_EQ(PiPttInterrupts(2), PU_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(PiPttInterrupts(1), PU_ERROR_DRIVER_NOT_LOADED);
}

TEST_F(Ptt, NullPointersAreRefused) {
  EXPECT_EQ(PttInit(1, nullptr, PI_PRIV_BOTH), PU_ERROR_NULL_POINTER);
  EXPECT_EQ(PiPttInit(1, nullptr, PI_PRIV_BOTH, nullptr), PU_ERROR_NULL_POINTER);
  EXPECT_EQ(PttGetMetricData(nullptr), PU_ERROR_NULL_POINTER);
  EXPECT_EQ(PttGetCurrentThreadDataEx(nullptr), PU_ERROR_NULL_POINTER);
  EXPECT_EQ(PttGetStatistics(nullptr), PU_ERROR_NULL_POINTER);
  EXPECT_EQ(PttGetSummaryStatistics(nullptr), PU_ERROR_NULL_POINTER);
  EXPECT_EQ(PttGetProcessData(1, nullptr), PU_ERROR_NULL_POINTER);
  EXPECT_EQ(PttGetMaxNumberOfMetrics(), 8);
}

}  // namespace
