// SPDX-License-Identifier: MIT
// Idle, busy and interrupt time of each CPU, from the module and from /proc/stat.
#include "counters/above_idle.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "fake_device.h"
#include "proc/proc_stat.h"
#include "temp_dir.h"

namespace pi::perfutil {
namespace {

TEST(ProcStat, EachCpuHasItsSumsAndTheTotalLineIsSkipped) {
  const auto cpus = parse_proc_stat(
      "cpu  10 20 30 40 50 60 70 80 90 100\n"
      "cpu0 1 2 3 4 5 6 7 8 9 10\n"
      "cpu12 1 0 0 100 0 0 0 0 0 0\n"
      "intr 1 2 3\nctxt 5\n");
  ASSERT_EQ(cpus.size(), 2u);
  EXPECT_EQ(cpus.at(0).idle, 9u);
  EXPECT_EQ(cpus.at(0).interrupt, 13u);
  EXPECT_EQ(cpus.at(0).busy, 14u);  // user time includes guest time
  EXPECT_EQ(cpus.at(12).idle, 100u);
}

TEST(ProcStat, InvalidLinesAreLeftOut) {
  const auto cpus = parse_proc_stat(
      "cpux 1 2 3 4\ncpu1\ncpu2 1 2 3\ncpu3 1 2 3 x\ncpu4 1 2 3 4\ncpu99999999 1 2 3 4\n"
      "cpu5 1 2 3 18446744073709551616\ncpu6");
  ASSERT_EQ(cpus.size(), 1u);
  EXPECT_EQ(cpus.at(4).idle, 4u);
  EXPECT_EQ(cpus.at(4).interrupt, 0u);
  EXPECT_TRUE(parse_proc_stat("").empty());
}

struct AboveIdle : ::testing::Test {
  std::shared_ptr<test::FakeModule> module = std::make_shared<test::FakeModule>();
  test::TempDir dir;

  Result<std::unique_ptr<AboveIdleSource>> open(const std::string& stat) {
    return open_above_idle(std::make_unique<test::FakeDevice>(module), 4, dir.write("stat", stat));
  }
};

TEST_F(AboveIdle, TheModulesCountersAreReturnedUnchanged) {
  module->above_idle[2] = {2, 0, 100, 50, 30, 20, 7, 8};
  {
    auto source = open("");
    ASSERT_TRUE(source) << source.error().message;
    EXPECT_EQ((*source)->kind(), PI_AI_HOOKS);
    const auto now = (*source)->read();
    ASSERT_TRUE(now);
    ASSERT_EQ(now->size(), 1u);  // the other CPUs are not online
    EXPECT_EQ(now->at(2).CurTime, 100u);
    EXPECT_EQ(now->at(2).IdleTime, 50u);
    EXPECT_EQ(now->at(2).BusyTime, 30u);
    EXPECT_EQ(now->at(2).IntrTime, 20u);
    EXPECT_EQ(now->at(2).DispCnt, 7u);
    EXPECT_EQ(now->at(2).IntrCnt, 8u);
  }
  EXPECT_EQ(module->requests.back(), PITRACE_IOC_AI_OFF);
  EXPECT_TRUE(module->closed);
}

TEST_F(AboveIdle, WithoutModuleOrItsHooksProcStatIsUsed) {
  const char* stat = "cpu0 1 2 3 4 5 6 7 8\n";
  module->refuse[PITRACE_IOC_AI_ON] = -EOPNOTSUPP;
  auto without_hooks = open(stat);
  ASSERT_TRUE(without_hooks);
  EXPECT_EQ((*without_hooks)->kind(), PI_AI_PROC_STAT);
  module->open_result = -EACCES;
  auto denied = open(stat);
  ASSERT_TRUE(denied);
  EXPECT_EQ((*denied)->kind(), PI_AI_PROC_STAT);
  const auto nothing = open("");
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, PU_ERROR_NOT_SUPPORTED);
}

TEST_F(AboveIdle, FromProcStatTheSumIsTheClockAndBusyIsTheRest) {
  module->open_result = -ENOENT;
  auto source = open("cpu0 0 0 0 1000 0 0 0 0\ncpu1 0 0 0 1000 0 0 0 0\n");
  ASSERT_TRUE(source);
  ::usleep(60'000);
  // CPU 0: two ticks of idle time and one of interrupts, and counters that run backwards; CPU 1:
  // far more time than has elapsed.
  dir.write("stat", "cpu0 9 9 9 1002 0 1 0 9\ncpu1 0 0 0 9000 0 0 0 0\n");
  const auto now = (*source)->read();
  ASSERT_TRUE(now);
  const auto step = 1'000'000'000ull / static_cast<uint64_t>(::sysconf(_SC_CLK_TCK));
  const ai_counters& first = now->at(0);
  EXPECT_GE(first.CurTime, 60'000'000u);
  EXPECT_EQ(first.CurTime, first.IdleTime + first.BusyTime + first.IntrTime);
  EXPECT_EQ(first.IdleTime, 2 * step);
  EXPECT_EQ(first.IntrTime, step);
  EXPECT_EQ(now->at(1).IdleTime, now->at(1).CurTime);
  EXPECT_EQ(now->at(1).BusyTime, 0u);
  dir.write("stat", "cpu0 0 0 0 0 0 0 0 0\n");
  const auto later = (*source)->read();
  ASSERT_TRUE(later);
  EXPECT_EQ(later->at(0).IdleTime, 2 * step);
  EXPECT_EQ(later->count(1), 0u);  // CPU 1 went offline
}

}  // namespace
}  // namespace pi::perfutil
