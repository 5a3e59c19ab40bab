// SPDX-License-Identifier: MIT
// perf as a source, on the kernel of this machine: names, ticks, counts, CPU hotplug.
#include "perf/perf_collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <numeric>
#include <thread>

#include "perf/perf_scope.h"
#include "streams.h"
#include "system/system_facts.h"
#include "temp_dir.h"

namespace pi::perfutil {
namespace {

using std::chrono::milliseconds;
using test::TimedRecord;

uint64_t cpu_time(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Uses the given CPU time, however busy the machine is.
void burn(milliseconds time) {
  const uint64_t end = cpu_time(CLOCK_THREAD_CPUTIME_ID) +
                       static_cast<uint64_t>(std::chrono::nanoseconds(time).count());
  while (cpu_time(CLOCK_THREAD_CPUTIME_ID) < end) {
  }
}

class PerfSource : public ::testing::Test {
 protected:
  void create(TraceConfig config) {
    config.pid = ::getpid();
    auto made = PerfCollector::create(config);
    if (!made && made.error().code == PU_ERROR_ACCESS_DENIED)
      GTEST_SKIP() << "needs permission for perf_event_open: " << made.error().message;
    ASSERT_TRUE(made) << made.error().message;
    collector_ = std::move(*made);
    ASSERT_TRUE(collector_->enable(PITRACE_MAJOR_TPROF_SET));
    ASSERT_TRUE(collector_->set_rate(1000));
  }
  std::vector<TimedRecord> records(uint32_t kind) {
    std::vector<TimedRecord> all;
    for (const auto& view : collector_->buffers()) {
      if (view.kind != kind) continue;
      bool whole = false;
      const auto part = test::records_of(view.records, &whole);
      EXPECT_TRUE(whole || view.records.empty());
      EXPECT_EQ(part.size(), view.counts.written);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }
  size_t own_ticks() {
    size_t count = 0;
    for (const auto& record : records(PITRACE_BUFFER_TRACE)) {
      TprofTick tick{};
      count += decode_tprof(record.view, tick) && tick.pid == static_cast<uint32_t>(::getpid());
    }
    return count;
  }
  std::vector<std::string> mte_lines() {
    std::vector<std::string> lines;
    for (const auto& record : records(PITRACE_BUFFER_MTE)) lines.push_back(test::line_of(record));
    return lines;
  }

  std::unique_ptr<Collector> collector_;
};

TEST_F(PerfSource, ABusyProcessGetsItsTicksAndTheCountsAddUp) {
  create({});
  if (!collector_) return;
  const uint64_t before_on = cpu_time(CLOCK_PROCESS_CPUTIME_ID);
  ASSERT_TRUE(collector_->on());
  const uint64_t start = cpu_time(CLOCK_PROCESS_CPUTIME_ID);
  burn(milliseconds(600));
  const uint64_t spent = cpu_time(CLOCK_PROCESS_CPUTIME_ID) - start;
  ASSERT_TRUE(collector_->off());
  // Parts of on() and off() are sampled; under a sanitizer they take long.
  const uint64_t spent_in_all = cpu_time(CLOCK_PROCESS_CPUTIME_ID) - before_on;
  const auto status = collector_->status();
  ASSERT_TRUE(status);
  // The host of a virtual machine may take time that the guest charges to us.
  EXPECT_GT(own_ticks(), spent / status->tick_ns * 6 / 10);
  EXPECT_LT(own_ticks(), spent_in_all / status->tick_ns * 12 / 10 + 20);
  for (const auto& view : collector_->buffers())
    EXPECT_EQ(view.counts.produced,
              view.counts.written +
                  std::accumulate(view.counts.lost.begin(), view.counts.lost.end(), uint64_t{0}));
}

TEST_F(PerfSource, TheTraceBeginsWithTheStartUpGroup) {
  create({});
  if (!collector_) return;
  ASSERT_TRUE(collector_->on());
  ASSERT_TRUE(collector_->off());
  std::vector<uint32_t> minors;
  for (const auto& record : records(PITRACE_BUFFER_MTE))
    if (record.view.major() == PITRACE_MAJOR_SYSTEM) minors.push_back(record.view.minor());
  EXPECT_EQ(minors, (std::vector<uint32_t>{PITRACE_SYSTEM_CLOCK, PITRACE_SYSTEM_TIMEBASE,
                                           PITRACE_SYSTEM_OS, PITRACE_SYSTEM_TPROF,
                                           PITRACE_SYSTEM_INTERVAL, PITRACE_SYSTEM_END}));
  const auto modules = records(PITRACE_BUFFER_MTE);
  ModuleEntry kernel{};
  ASSERT_FALSE(modules.empty());
  ASSERT_TRUE(decode_module(modules[0].view, kernel));
  EXPECT_EQ(kernel.pid, 0u);
  EXPECT_EQ(kernel.name, "vmlinux");
}

TEST_F(PerfSource, AChildIsFollowedFromForkOverExecToExit) {
  create({});
  if (!collector_) return;
  ASSERT_TRUE(collector_->on());
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/true", "true", nullptr);
    ::_exit(1);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ASSERT_TRUE(collector_->off());
  char pid[16], parent[16];
  std::snprintf(pid, sizeof pid, "%x", static_cast<unsigned>(child));
  std::snprintf(parent, sizeof parent, "%x", static_cast<unsigned>(::getpid()));
  // Sort by time: the records are from several CPUs.
  auto all = records(PITRACE_BUFFER_MTE);
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.time < b.time; });
  std::vector<std::string> story;
  for (const auto& record : all) {
    if (record.view.int_count() == 0 || record.view.int_at(0) != static_cast<uint32_t>(child))
      continue;
    std::string line = test::line_of(record);
    const size_t at = line.find('@'), end = line.find(' ', at);
    if (record.view.minor() == PITRACE_MTE_MODULE) {
      std::string_view name;
      (void)record.view.string_at(0, name);
      line = "module " + std::string(name);
    } else {
      line.erase(at, end - at + 1);
    }
    story.push_back(line);
  }
  const std::string me = pid;
  ASSERT_GE(story.size(), 6u);
  EXPECT_EQ(story[0], "19/63 " + me + " " + parent + " 0 " + parent);
  EXPECT_EQ(story[1], "19/64 " + me);
  EXPECT_EQ(story[2], "19/34 " + me + " 64 'true'");
  EXPECT_THAT(story, ::testing::Contains(::testing::EndsWith("/bin/true")));
  EXPECT_THAT(story, ::testing::Contains("module [vdso]"));
  EXPECT_EQ(story[story.size() - 2], "19/67 " + me + " " + me);
  EXPECT_EQ(story.back(), "19/65 " + me);
}

TEST_F(PerfSource, ANewExecutableMappingOfThisProcessIsSeenWithItsTime) {
  create({});
  if (!collector_) return;
  ASSERT_TRUE(collector_->on());
  const uint64_t before = trace_clock();
  void* code = ::mmap(nullptr, 3 * 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const uint64_t after = trace_clock();
  ASSERT_TRUE(collector_->off());
  ::munmap(code, 3 * 4096);
  size_t found = 0;
  for (const auto& record : records(PITRACE_BUFFER_MTE)) {
    ModuleEntry module{};
    if (!decode_module(record.view, module) ||
        module.address != reinterpret_cast<uintptr_t>(code) || record.time < before)
      continue;
    ++found;
    EXPECT_EQ(module.pid, static_cast<uint32_t>(::getpid()));
    EXPECT_EQ(module.size, 3u * 4096);
    EXPECT_EQ(module.stamp, PITRACE_STAMP_ANON);
    EXPECT_LE(record.time, after);
  }
  EXPECT_EQ(found, 1u);
}

TEST_F(PerfSource, TheSnapshotNamesThisProcessAtTheTracesStart) {
  create({});
  if (!collector_) return;
  ASSERT_TRUE(collector_->on());
  ASSERT_TRUE(collector_->off());
  const uint64_t start = collector_->status()->start_time;
  bool named = false;
  for (const auto& record : records(PITRACE_BUFFER_MTE)) {
    NameEntry name{};
    named |= decode_name(record.view, name) && name.pid == static_cast<uint32_t>(::getpid()) &&
             record.time == start;
  }
  EXPECT_TRUE(named);
}

TEST_F(PerfSource, ABufferFarTooSmallStopsTheTraceAndTheRestIsCounted) {
  TraceConfig config;
  config.trace_bytes = PI_BUFFER_BYTES_MIN;
  config.mte_bytes = PI_BUFFER_BYTES_MIN;
  create(config);
  if (!collector_) return;
  ASSERT_TRUE(collector_->set_rate(10000));
  ASSERT_TRUE(collector_->on());
  burn(milliseconds(700));
  ASSERT_TRUE(collector_->off());
  ASSERT_TRUE(collector_->status()->full);
  uint64_t full = 0;
  for (const auto& view : collector_->buffers()) {
    const auto& counts = view.counts;
    full += counts.lost[PITRACE_LOST_FULL];
    EXPECT_EQ(counts.produced, counts.written + std::accumulate(counts.lost.begin(),
                                                                counts.lost.end(), uint64_t{0}));
  }
  EXPECT_EQ(full, 1u);
}

TEST_F(PerfSource, ASecondTraceStartsEmptyWithTheNextInterval) {
  create({});
  if (!collector_) return;
  ASSERT_TRUE(collector_->on());
  burn(milliseconds(200));
  ASSERT_TRUE(collector_->off());
  const size_t first = own_ticks();
  ASSERT_TRUE(collector_->on());
  ASSERT_TRUE(collector_->off());
  EXPECT_EQ(collector_->status()->interval_id, 2u);
  EXPECT_LT(own_ticks(), first);
}

TEST_F(PerfSource, MajorsCanBeSwitchedWhileItIsOn) {
  create({});
  if (!collector_) return;
  ASSERT_TRUE(collector_->disable(PITRACE_MAJOR_ALL));
  ASSERT_TRUE(collector_->on());
  burn(milliseconds(100));
  EXPECT_EQ(own_ticks(), 0u);
  ASSERT_TRUE(collector_->enable(PITRACE_MAJOR_TPROF_SET));
  burn(milliseconds(300));
  ASSERT_TRUE(collector_->disable(PITRACE_MAJOR_TPROF));
  ASSERT_TRUE(collector_->off());
  EXPECT_GT(own_ticks(), 50u);
  EXPECT_THAT(mte_lines(), ::testing::Contains(::testing::HasSubstr("19/63")));
}

// For the thread sanitizer: the reader's thread and callers share the buffers.
TEST_F(PerfSource, StatusCanBeReadWhileTheReaderRuns) {
  create({});
  if (!collector_) return;
  ASSERT_TRUE(collector_->set_rate(10000));
  ASSERT_TRUE(collector_->on());
  std::thread burner([] { burn(milliseconds(2500)); });
  uint64_t seen = 0;
  for (int i = 0; i < 250; ++i) {
    std::this_thread::sleep_for(milliseconds(10));
    EXPECT_TRUE(collector_->status()->on);
    uint64_t produced = 0;
    for (const auto& view : collector_->buffers()) produced += view.counts.produced;
    EXPECT_GE(produced, seen);
    seen = produced;
  }
  burner.join();
  EXPECT_GT(seen, 0u);
  ASSERT_TRUE(collector_->off());
}

TEST_F(PerfSource, ACpuThatComesOnlineIsTracedAndOneThatGoesOfflineKeepsItsRecords) {
  const test::TempDir dir;
  TraceConfig config;
  config.online_path = dir.write("online", "0\n");
  create(config);
  if (!collector_) return;
  if (::sysconf(_SC_NPROCESSORS_ONLN) < 2) GTEST_SKIP() << "needs two CPUs";
  ASSERT_TRUE(collector_->on());
  const auto wait_for_note = [&](const char* text) {
    for (int i = 0; i < 100; ++i) {
      for (const auto& note : collector_->notes())
        if (note.find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(milliseconds(50));
    }
    return false;
  };
  EXPECT_EQ(collector_->buffers().size(), 2u);
  dir.write("online", "0-1\n");
  EXPECT_TRUE(wait_for_note("CPU 1 came online"));
  EXPECT_EQ(collector_->buffers().size(), 4u);
  dir.write("online", "1\n");
  EXPECT_TRUE(wait_for_note("CPU 0 went offline"));
  ASSERT_TRUE(collector_->off());
  EXPECT_EQ(collector_->buffers().size(), 4u);
}

TEST_F(PerfSource, TheProcessScopeSamplesItsThreadsAndChildrenOnly) {
  TraceConfig config;
  config.scope = TRACE_SCOPE_PROCESS;
  std::thread early([] { burn(milliseconds(900)); });
  create(config);
  if (collector_) {
    EXPECT_TRUE(collector_->on());
    const pid_t child = ::fork();
    if (child == 0) {
      burn(milliseconds(300));
      ::_exit(0);
    }
    std::thread late([] { burn(milliseconds(300)); });
    late.join();
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(collector_->off());
    std::map<uint32_t, size_t> ticks, threads;
    for (const auto& record : records(PITRACE_BUFFER_TRACE)) {
      TprofTick tick{};
      if (!decode_tprof(record.view, tick)) continue;
      ++ticks[tick.pid];
      ++threads[tick.tid];
    }
    EXPECT_EQ(ticks.size(), 2u);
    EXPECT_GT(ticks[static_cast<uint32_t>(child)], 50u);
    EXPECT_GE(threads.size(), 3u);
    EXPECT_THAT(collector_->cannot_see(), ::testing::Contains(::testing::HasSubstr("descendants")));
  }
  early.join();
}

// A chain of calls that the compiler does not inline.
[[gnu::noinline]] void burn_at_the_end(milliseconds time) {
  burn(time);
  asm volatile("");
}

TEST_F(PerfSource, TicksHaveStacksOnlyOnRequest) {
  create({});
  if (!collector_) return;
  ASSERT_TRUE(collector_->set_stacks({PITRACE_STACKS_KERNEL | PITRACE_STACKS_USER, 16}));
  ASSERT_TRUE(collector_->on());
  burn_at_the_end(milliseconds(300));
  ASSERT_TRUE(collector_->off());
  size_t ticks = 0, with_callers = 0;
  for (const auto& record : records(PITRACE_BUFFER_TRACE)) {
    TprofTick tick{};
    if (!decode_tprof(record.view, tick)) continue;
    const StackView stack = stack_of_tprof(record.view);
    EXPECT_TRUE(stack.exists());
    EXPECT_LE(stack.kernel_frames(), 16u);
    EXPECT_LE(stack.user_frames(), 16u);
    ++ticks;
    with_callers += stack.kernel_frames() + stack.user_frames() != 0;
  }
  EXPECT_GT(ticks, 0u);
  EXPECT_GT(with_callers, ticks / 2);
  ASSERT_TRUE(collector_->set_stacks({}));
  ASSERT_TRUE(collector_->on());
  burn(milliseconds(50));
  ASSERT_TRUE(collector_->off());
  for (const auto& record : records(PITRACE_BUFFER_TRACE))
    EXPECT_EQ(record.view.length(), uint32_t{PITRACE_TPROF_SIZE});
}

// Dispatches of this thread, and its state before each.
TEST_F(PerfSource, DispatchesShowWhenAndWhereThisThreadSlept) {
  TraceConfig config;
  create(config);
  if (!collector_) return;
  if (collector_->status()->scope != TRACE_SCOPE_SYSTEM) GTEST_SKIP() << "needs the whole system";
  ASSERT_TRUE(collector_->disable(PITRACE_MAJOR_TPROF));
  ASSERT_TRUE(collector_->set_stacks({PITRACE_STACKS_KERNEL, 16}));
  ASSERT_TRUE(collector_->enable(PITRACE_MAJOR_DISPATCH));
  ASSERT_TRUE(collector_->on());
  constexpr int sleeps = 20;
  for (int i = 0; i < sleeps; ++i) std::this_thread::sleep_for(milliseconds(5));
  ASSERT_TRUE(collector_->off());
  int came = 0, left_blocked = 0, with_stack = 0;
  for (const auto& view : collector_->buffers()) {
    if (view.kind != PITRACE_BUFFER_TRACE) continue;
    uint32_t runs = ~0u;
    bool whole = false;
    const auto stream = test::records_of(view.records, &whole);
    EXPECT_TRUE(whole || view.records.empty());
    EXPECT_EQ(stream.size(), view.counts.written);
    // perf has no ids for a thread that is preempted after its end: such switches are lost.
    EXPECT_EQ(view.counts.produced, view.counts.written + view.counts.lost[PITRACE_LOST_SOURCE]);
    EXPECT_LE(view.counts.lost[PITRACE_LOST_SOURCE], 1 + view.counts.written / 20);
    for (const auto& record : stream) {
      Dispatch dispatch{};
      if (!decode_dispatch(record.view, dispatch)) continue;
      if (runs == static_cast<uint32_t>(::gettid())) {
        left_blocked += dispatch.state == PITRACE_STATE_BLOCKED;
        with_stack += stack_of_dispatch(record.view).kernel_frames() != 0;
      }
      runs = dispatch.tid;
      came += runs == static_cast<uint32_t>(::gettid());
    }
  }
  EXPECT_GE(came, sleeps);
  // Before its first dispatch the thread is not known to run.
  EXPECT_GE(left_blocked, sleeps - 1);
  EXPECT_GE(with_stack, sleeps - 1);
}

TEST_F(PerfSource, InTheProcessScopeDispatchesAlternateWithTheIdleTask) {
  TraceConfig config;
  config.scope = TRACE_SCOPE_PROCESS;
  create(config);
  if (!collector_) return;
  ASSERT_TRUE(collector_->enable(PITRACE_MAJOR_DISPATCH));
  ASSERT_TRUE(collector_->on());
  constexpr int sleeps = 20;
  for (int i = 0; i < sleeps; ++i) std::this_thread::sleep_for(milliseconds(5));
  ASSERT_TRUE(collector_->off());
  int came = 0, left = 0;
  for (const auto& record : records(PITRACE_BUFFER_TRACE)) {
    Dispatch dispatch{};
    if (!decode_dispatch(record.view, dispatch)) continue;
    came += dispatch.pid == static_cast<uint32_t>(::getpid());
    left += dispatch.pid == 0 && dispatch.state == PITRACE_STATE_BLOCKED;
  }
  EXPECT_GE(came, sleeps);
  EXPECT_GE(left, sleeps);
}

TEST_F(PerfSource, AnEventTicksAtEachOccurrence) {
  create({});
  if (!collector_) return;
  TickEvent event;
  event.name = "page-faults";
  event.type = PERF_TYPE_SOFTWARE;
  event.config = PERF_COUNT_SW_PAGE_FAULTS;
  event.period = 1;
  event.flags = PITRACE_EVENT_NO_KERNEL;
  ASSERT_TRUE(collector_->set_event(event));
  constexpr size_t pages = 200, page = 4096;
  auto* memory = static_cast<char*>(
      ::mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_EQ(::madvise(memory, pages * page, MADV_NOHUGEPAGE), 0);
  ASSERT_TRUE(collector_->on());
  for (size_t i = 0; i < pages; ++i) memory[i * page] = 1;
  ASSERT_TRUE(collector_->off());
  ::munmap(memory, pages * page);
  EXPECT_GE(own_ticks(), pages);
#ifndef __SANITIZE_THREAD__  // the sanitizer's own memory causes faults as well
  EXPECT_LT(own_ticks(), pages * 2);
#endif
  bool found = false;
  for (const auto& record : records(PITRACE_BUFFER_MTE))
    if (record.view.minor() == PITRACE_SYSTEM_TPROF && record.view.major() == PITRACE_MAJOR_SYSTEM)
      found =
          record.view.int_at(0) == 1 && record.view.int_at(1) == 0 && record.view.int_at(2) == 1;
  EXPECT_TRUE(found);
}

TEST_F(PerfSource, MajorsThatPerfLacksAreRefusedSinglyAndListedWhenAllAreEnabled) {
  create({});
  if (!collector_) return;
  for (const uint32_t major : {PITRACE_MAJOR_INTERRUPT, PITRACE_MAJOR_SYSCALL,
                               PITRACE_MAJOR_EXCEPTION, PITRACE_MAJOR_SWITCH}) {
    const auto refused = collector_->enable(major);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, PU_ERROR_NOT_SUPPORTED);
  }
  EXPECT_THAT(collector_->cannot_see(),
              ::testing::Not(::testing::Contains(::testing::HasSubstr("interrupts:"))));
  ASSERT_TRUE(collector_->enable(PITRACE_MAJOR_ALL));
  EXPECT_THAT(collector_->cannot_see(), ::testing::Contains(::testing::HasSubstr("interrupts:")));
  EXPECT_THAT(collector_->cannot_see(), ::testing::Contains(::testing::HasSubstr("Wake-ups")));
}

TEST(PerfSourceNotes, CountProcessesInWords) {
  EXPECT_THAT(unreadable_processes_note(1), ::testing::HasSubstr("which files 1 process had"));
  EXPECT_THAT(unreadable_processes_note(2), ::testing::HasSubstr("which files 2 processes had"));
}

TEST(PerfSourceRefusals, AProcessThatDoesNotExistIsAnError) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  TraceConfig config;
  config.scope = TRACE_SCOPE_PROCESS;
  config.pid = child;
  const auto made = PerfCollector::create(config);
  ASSERT_FALSE(made);
  EXPECT_FALSE(made.error().message.empty());
}

}  // namespace
}  // namespace pi::perfutil
