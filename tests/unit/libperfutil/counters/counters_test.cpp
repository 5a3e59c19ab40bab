// SPDX-License-Identifier: MIT
// Counting with the kernel's own counters: software events, and the time-stamp counter if the
// kernel counts it.
#include "counters/counters.h"

#include <gmock/gmock.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "counters/cpi.h"
#include "perfutil.h"
#include "system/tsc_x86.h"
#include "temp_dir.h"

namespace pi::perfutil {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TickEvent named(const std::string& name, int priv = PI_PRIV_BOTH) {
  auto event = resolve_event(name);
  EXPECT_TRUE(event) << name;
  EXPECT_TRUE(limit_to(*event, priv));
  return *event;
}

// Touches the given number of pages for the first time: one page fault each.
void fault(size_t pages) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  UniqueMapping memory(
      ::mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      pages * page);
  ASSERT_TRUE(memory);
  ::madvise(memory.data(), memory.size(), MADV_NOHUGEPAGE);
  for (size_t i = 0; i < pages; ++i)
    // Inline asm: a sanitizer would add its own accesses.
    asm volatile("movb $1, (%0)" : : "r"(memory.data() + i * page) : "memory");
}

class Counters : public ::testing::Test {
 protected:
  void SetUp() override {
    if (try_counting(named("page-faults")) != 0) GTEST_SKIP() << "may not count the system";
  }
};

TEST(CounterGroups, AThreadsPageFaultsAreCountedExactly) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's own memory faults, too";
#endif
  CounterTarget self;
  self.pid = 0;
  auto group = CounterGroup::open({named("page-faults", PI_PRIV_USER)}, self);
  ASSERT_TRUE(group) << group.error().message;
  fault(10);  // so that later calls cause no other page faults
  ASSERT_TRUE(group->start());
  const uint64_t before = group->read()->values.front();
  fault(1000);
  const uint64_t after = group->read()->values.front();
  EXPECT_EQ(after - before, 1000u);
  group->stop();
  const uint64_t stopped = group->read()->values.front();
  fault(100);
  EXPECT_EQ(group->read()->values.front(), stopped);
}

TEST(CounterGroups, EventsThatCountTogetherAreReadTogether) {
  CounterTarget self;
  self.pid = 0;
  auto group = CounterGroup::open(
      {named("page-faults", PI_PRIV_USER), named("minor-faults", PI_PRIV_USER)}, self);
  ASSERT_TRUE(group) << group.error().message;
  ASSERT_TRUE(group->start());
  fault(100);
  const auto now = group->read();
  ASSERT_TRUE(now);
  ASSERT_EQ(now->values.size(), 2u);
  EXPECT_EQ(now->values[0], now->values[1]);
  EXPECT_GE(now->values[0], 100u);
  EXPECT_GT(now->counted_ns, 0u);
}

// The program or its shell may still write to a standard descriptor that it has closed.
TEST(CounterGroups, NoEventHasTheNumberOfAStandardDescriptor) {
  CounterTarget self;
  self.pid = 0;
  const auto event = named("page-faults", PI_PRIV_USER);
  const pid_t child = ::fork();
  if (child == 0) {
    for (int fd = 0; fd <= STDERR_FILENO; ++fd) ::close(fd);
    const auto group = CounterGroup::open({event}, self);
    if (!group) ::_exit(2);
    for (int fd = 0; fd <= STDERR_FILENO; ++fd)
      if (::fcntl(fd, F_GETFD) >= 0) ::_exit(1);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(CounterGroups, AMissingProcessIsAnError) {
  CounterTarget target;
  target.pid = INT32_MAX;
  const auto group = CounterGroup::open({named("page-faults", PI_PRIV_USER)}, target);
  ASSERT_FALSE(group);
  EXPECT_EQ(group.error().code, PU_ERROR_INVALID_PARAMETER);
}

// The count must lie between the differences of the same clock read inside and outside of the
// calls.
TEST_F(Counters, TheTimeStampCounterIsCountedExactly) {
  const auto tsc = resolve_event("msr/tsc/");
  if (!tsc || try_counting(*tsc) != 0) GTEST_SKIP() << "the kernel has no counter msr/tsc/";
  CounterTarget cpu;
  cpu.cpu = 0;
  auto group = CounterGroup::open({*tsc}, cpu);
  ASSERT_TRUE(group) << group.error().message;
  const uint64_t outer_start = processor_cycles();
  ASSERT_TRUE(group->start());
  const uint64_t inner_start = processor_cycles();
  for (int i = 0; i < 3; ++i) {
    fault(100);
    const uint64_t inner_end = processor_cycles();
    const auto now = group->read();
    const uint64_t outer_end = processor_cycles();
    ASSERT_TRUE(now);
    EXPECT_GE(now->values.front(), inner_end - inner_start);
    EXPECT_LE(now->values.front(), outer_end - outer_start);
  }
}

TEST_F(Counters, EveryCpuIsCountedStoppedAndResetTogether) {
  auto counters = SystemCounters::open({named("page-faults")});
  ASSERT_TRUE(counters) << counters.error().message;
  const auto sum = [&] {
    uint64_t total = 0;
    const auto now = counters->read();
    EXPECT_TRUE(now);
    for (const auto& [cpu, counts] : *now) total += counts.values.front();
    return total;
  };
  ASSERT_TRUE(counters->start());
  EXPECT_TRUE(counters->counting());
  fault(1000);
  EXPECT_GE(sum(), 1000u);
  counters->stop();
  const uint64_t stopped = sum();
  fault(1000);
  EXPECT_EQ(sum(), stopped);
  ASSERT_TRUE(counters->reset());
  EXPECT_EQ(sum(), 0u);
  ASSERT_TRUE(counters->start());
  fault(1000);
  EXPECT_GE(sum(), 1000u);
}

TEST_F(Counters, ACpuKeepsItsCountWhileOfflineAndIsCountedAgainOnline) {
  if (::sysconf(_SC_NPROCESSORS_ONLN) < 2) GTEST_SKIP() << "needs two CPUs";
  const test::TempDir directory;
  CounterPlaces places;
  places.online = directory.write("online", "0-1\n");
  auto counters = SystemCounters::open({named("cpu-clock")}, places);
  ASSERT_TRUE(counters) << counters.error().message;
  ASSERT_TRUE(counters->start());
  ASSERT_EQ(counters->read()->size(), 2u);
  directory.write("online", "0\n");
  const auto gone = counters->read();
  const auto later = counters->read();
  ASSERT_EQ(later->size(), 2u);
  EXPECT_EQ(later->at(1).values, gone->at(1).values);
  EXPECT_EQ(later->at(1).counted_ns, gone->at(1).counted_ns);
  EXPECT_GT(later->at(0).counted_ns, gone->at(0).counted_ns);
  directory.write("online", "0-1\n");
  (void)counters->read();  // finds the CPU
  const auto back = counters->read();
  EXPECT_GT(back->at(1).counted_ns, later->at(1).counted_ns);
  EXPECT_GT(back->at(1).values.front(), later->at(1).values.front());
  const auto began = std::chrono::steady_clock::now();
  ASSERT_TRUE(counters->reset());
  const uint64_t counted = counters->read()->at(1).counted_ns;
  EXPECT_LE(counted, uint64_t((std::chrono::steady_clock::now() - began) / 1ns));
}

TEST_F(Counters, CountersThatCpusShareAreCountedOnOneOfThem) {
  const test::TempDir directory;
  directory.write("devices/shared/type", std::to_string(PERF_TYPE_SOFTWARE));
  directory.write("devices/shared/cpumask", "0\n");
  CounterPlaces places;
  places.devices = directory / "devices";
  auto counters = SystemCounters::open({named("page-faults")}, places);
  ASSERT_TRUE(counters) << counters.error().message;
  const auto now = counters->read();
  ASSERT_EQ(now->size(), 1u);
  EXPECT_EQ(now->begin()->first, 0u);
}

TEST_F(Counters, WithoutCpusNothingIsCounted) {
  CounterPlaces places;
  places.online = "/nonexistent";
  const auto counters = SystemCounters::open({named("page-faults")}, places);
  ASSERT_FALSE(counters);
  EXPECT_EQ(counters.error().code, PU_ERROR_NOT_SUPPORTED);
}

TEST(CounterRefusals, EachHasAReasonAndARemedy) {
  EXPECT_EQ(refused_counting(ENOENT, "x").code, PU_ERROR_EVENT_NOT_SUPPORTED);
  EXPECT_EQ(refused_counting(EINVAL, "x").code, PU_ERROR_EVENT_NOT_SUPPORTED);
  EXPECT_THAT(refused_counting(EINVAL, "x").message, HasSubstr("terms"));
  EXPECT_EQ(refused_counting(EACCES, "x").code, PU_ERROR_ACCESS_DENIED);
  EXPECT_EQ(refused_counting(EBUSY, "x").code, PU_ERROR_FACILITY_BUSY);
  EXPECT_EQ(refused_counting(EMFILE, "x").code, PU_ERROR_NOT_ENOUGH_MEMORY);
}

TEST(CyclesPerInstruction, RatiosFollowFromTheSums) {
  pi_cpi cpi{};
  cpi.cycles = 300;
  cpi.busy_cycles = 200;
  cpi.active_cycles = 150;
  set_ratios(cpi);
  EXPECT_EQ(cpi.raw_cpi, 0);
  cpi.instructions = 100;
  set_ratios(cpi);
  EXPECT_EQ(cpi.raw_cpi, 3);
  EXPECT_EQ(cpi.scaled_cpi, 2);
  EXPECT_EQ(cpi.active_cpi, 1.5);
}

TEST(CyclesPerInstruction, BusyRatioExcludesIdleTime) {
  const ai_counters before{1000, 400, 500, 100, 0, 0};
  const ai_counters now{2000, 650, 1200, 150, 0, 0};
  EXPECT_EQ(busy_part(1'000'000, before, now), 750'000u);
  EXPECT_EQ(busy_part(1'000'000, now, now), 0u);
  // The largest numbers do not overflow.
  const ai_counters full{UINT64_MAX, 0, UINT64_MAX, 0, 0, 0};
  EXPECT_EQ(busy_part(UINT64_MAX, {}, full), UINT64_MAX);
}

}  // namespace
}  // namespace pi::perfutil
