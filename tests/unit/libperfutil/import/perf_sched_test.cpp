// SPDX-License-Identifier: MIT
// Recordings of perf with context switches as samples of tracepoints, and in several files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include <fmt/format.h>

#include "perf_import_case.h"
#include "perf_sched_data.h"

namespace pi::perfutil {
namespace {

using ::testing::HasSubstr;

using test::scheduler_data;
using test::switch_sample;
using test::thread_map;
using test::tracepoint_sample;
using test::waking_sample;

TEST_F(PerfImportTest, TracepointsOfTheSchedulerAreSwitchesAndWakeUps) {
  PerfData data = scheduler_data();
  data.record(switch_sample(100, 5, 6, 1, 7, 8))  // sleeps
      .record(waking_sample(110, 0, 6, 3))
      .record(waking_sample(115, 8, 7, 1))
      .record(switch_sample(120, 5, 7, 0x100, 0, 8))    // is preempted
      .record(switch_sample(130, 0, 0, 0, 6, 8))        // the idle task
      .record(switch_sample(140, ~0u, 6, 0x10, 0, 8));  // ends
  data.record(PerfRecord(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER)
                  .u64(test::some_event)
                  .u64(0x1234)
                  .u32(5)
                  .u32(6)
                  .u64(150)
                  .u32(0)
                  .u32(0)
                  .u64(0)
                  .end());
  for (const std::string& bytes : {data.file(), data.piped()}) {
    ASSERT_TRUE(import(bytes));
    EXPECT_EQ(ticks(), (Lines{"12/80000003 @100 5 6", "12/5 @100 7 1", "12/80000001 @110 6 6 3",
                              "12/80000001 @115 7 6 80000001", "12/0 @120 0 100", "12/5 @130 6 0",
                              "12/0 @140 0 4", "10/23 @150 5 6 0 1234"}));
    EXPECT_EQ(info("note"), Lines());
    EXPECT_EQ(info("cannot_see"), Lines());
    EXPECT_EQ(info("count.0.trace.source"), Lines{"0"});
  }
}

TEST_F(PerfImportTest, ASwitchHasTheStackOfTheThreadThatLeaves) {
  PerfData data = scheduler_data(PERF_SAMPLE_CALLCHAIN);
  ASSERT_TRUE(
      import(data.record(switch_sample(100, 5, 6, 2, 7, 8, true)).file(), "sched:sched_sw*"));
  EXPECT_EQ(ticks(), (Lines{"10/20 @100 5 6 ffffffff 81000010 0", "12/80000003 @100 5 6",
                            "12/5 @100 7 2 1 ffffffff 81000010"}));
}

Lines without_ticks(const Lines& lines) {
  Lines rest;
  std::copy_if(lines.begin(), lines.end(), std::back_inserter(rest),
               [](const std::string& line) { return !line.starts_with("10/"); });
  return rest;
}

TEST_F(PerfImportTest, ASwitchThatTheKernelHasNotReportedIsNotLost) {
  PerfData data = scheduler_data();
  data.record(switch_sample(100, 5, 6, 1, 7, 8))
      .record(switch_sample(110, 5, 5, 1, 7, 8))  // 5 was not switched to
      .record(switch_sample(120, 5, 7, 1, 5, 8));
  ASSERT_TRUE(import(data.file(), "clock"));
  EXPECT_EQ(ticks(), (Lines{"12/80000003 @100 5 6", "12/5 @100 7 1", "12/80000003 @110 5 5",
                            "12/5 @110 7 1", "12/5 @120 5 1"}));
  EXPECT_EQ(info("count.0.trace.source"), Lines{"0"});
}

// No record names the process of a thread that began while perf listed those that ran.
TEST_F(PerfImportTest, TheProcessOfAThreadCanFollowFromTheNextRecordOfTheCpu) {
  PerfData data = scheduler_data();
  data.record(switch_sample(100, 5, 6, 1, 99, 8))
      .record(switch_sample(110, 98, 99, 1, 97, 8))  // of 98
      .record(waking_sample(115, 0, 7, 3))           // by 6: of 97 nothing is known
      .record(switch_sample(120, ~0u, 97, 0x10, 96, 8))
      .record(test::perf_task(PERF_RECORD_EXIT, 90, 5, 96, 5, 125))
      .record(switch_sample(130, ~0u, 96, 0x10, 95, 8));
  ASSERT_TRUE(import(data.file(), "sched:sched_switch"));
  EXPECT_EQ(without_ticks(ticks()),
            (Lines{"12/80000003 @100 5 6", "12/62 @100 63 1", "12/61 @110 61 1",
                   "12/80000001 @115 7 6 3", "12/5a @120 60 4", "12/5f @130 5f 4"}));
  EXPECT_EQ(info("count.0.trace.source"), Lines{"0"});
}

TEST_F(PerfImportTest, AfterALossItIsNotKnownWhatRuns) {
  PerfData data = scheduler_data();
  data.record(switch_sample(100, 5, 6, 1, 7, 8))
      .record(PerfRecord(PERF_RECORD_LOST).u64(1).u64(3).end(5, 7, 105))
      .record(switch_sample(110, 5, 7, 1, 6, 8));
  ASSERT_TRUE(import(data.file(), "sched:sched_switch"));
  EXPECT_EQ(without_ticks(ticks()), (Lines{"12/80000003 @100 5 6", "12/5 @100 7 1",
                                           "12/80000003 @110 5 7", "12/5 @110 6 1"}));
  EXPECT_EQ(info("count.0.trace.source"), Lines{"3"});
}

// Thread ids in the data are those of the first namespace, and pids those of perf's.
TEST_F(PerfImportTest, SwitchesThatAPidNamespaceRecordedAreNotUsed) {
  PerfData data = scheduler_data();
  data.record(switch_sample(100, 5, 6, 1, 7, 8));
  std::vector<std::byte> other = switch_sample(110, 5, 7, 1, 6, 8);
  const uint32_t tid = 1;
  std::memcpy(other.data() + sizeof(perf_event_header) + 20, &tid, sizeof tid);
  ASSERT_TRUE(import(data.record(other).file(), "sched:sched_switch"));
  EXPECT_EQ(without_ticks(ticks()), Lines());
  EXPECT_THAT(info("cannot_see"), testing::ElementsAre(HasSubstr("perf ran in a PID namespace")));
}

TEST_F(PerfImportTest, SwitchesOfNamedProcessesAreNotUsed) {
  for (const bool named : {true, false}) {
    PerfData data = scheduler_data();
    data.record(thread_map(named ? 5 : ~uint64_t{0}));
    data.record(switch_sample(100, 5, 6, 1, 7, 8));
    ASSERT_TRUE(import(data.file(), "sched:sched_switch"));
    EXPECT_EQ(without_ticks(ticks()).empty(), named);
    EXPECT_EQ(info("scope"), Lines{named ? "process" : "system"});
    EXPECT_EQ(info("cannot_see").size(), named ? 1u : 0u);
    for (const std::string& text : info("cannot_see"))
      EXPECT_THAT(text, HasSubstr("what ran meanwhile"));
  }
}

// Each wake-up is sched_waking and sched_wakeup, but the first one of a thread.
TEST_F(PerfImportTest, EachWakeUpIsTakenOnce) {
  for (const char* second : {"sched:sched_waking", "sched:sched_wakeup_new"}) {
    PerfData data = scheduler_data();
    data.event(test::tracepoint_attr(tracepoint_sample), {10})
        .names({"clock", "sched:sched_switch", second, "sched:sched_wakeup"})
        .record(switch_sample(100, 5, 6, 1, 7, 8))
        .record(waking_sample(110, 0, 6, 1, 9))
        .record(waking_sample(120, 0, 6, 1, 10));
    ASSERT_TRUE(import(data.file(), "sched:sched_switch"));
    Lines wanted{"12/80000003 @100 5 6", "12/5 @100 7 1", "12/80000001 @110 6 6 1"};
    if (second == std::string("sched:sched_wakeup_new"))
      wanted.emplace_back("12/80000001 @120 6 6 1");
    EXPECT_EQ(without_ticks(ticks()), wanted);
  }
}

TEST_F(PerfImportTest, SwitchesOfSomeThreadsOrWithoutAFormatAreReported) {
  for (const bool described : {false, true}) {
    PerfData data;
    perf_event_attr attr = test::tracepoint_attr(tracepoint_sample);
    attr.enable_on_exec = 1;
    data.event(attr, {8}).names({"sched:sched_switch"});
    if (described) data.feature(1, test::tracing_data());
    ASSERT_TRUE(import(data.record(switch_sample(100, 5, 6, 1, 7, 8)).file()));
    EXPECT_EQ(ticks(), Lines{"10/20 @100 5 6 ffffffff 81000010"});
    EXPECT_THAT(
        info("cannot_see"),
        testing::ElementsAre(HasSubstr(described ? "only the switches away from their threads"
                                                 : "does not describe the data")));
  }
}

TEST_F(PerfImportTest, SwitchesOfWhichOnlySomeAreSampledAreReported) {
  PerfData data;
  perf_event_attr attr = test::tracepoint_attr(tracepoint_sample);
  attr.freq = 1;
  attr.sample_period = 499;
  data.event(attr, {8}).names({"sched:sched_switch"}).feature(1, test::tracing_data());
  ASSERT_TRUE(import(data.record(switch_sample(100, 5, 6, 1, 7, 8)).file()));
  EXPECT_EQ(ticks().size(), 1u);
  EXPECT_THAT(info("cannot_see"), testing::ElementsAre(HasSubstr("are only some of them")));
}

TEST_F(PerfImportTest, DamagedFormatsOfTracepointsAreNotUsed) {
  const std::string whole = test::tracing_data();
  for (size_t size = 0; size < whole.size(); size += 5) {
    PerfData data = scheduler_data();
    data.feature(1, whole.substr(0, size)).record(switch_sample(100, 5, 6, 1, 7, 8));
    ASSERT_TRUE(import(data.file(), "sched:sched_switch")) << size;
    EXPECT_EQ(without_ticks(ticks()).empty(), !info("cannot_see").empty()) << size;
  }
}

TEST_F(PerfImportTest, ADirectoryIsReadInTheOrderOfTime) {
  const std::string name = dir_ / "threads";
  PerfData main = clock_data();
  std::string version;
  test::append_number(version, uint64_t{1});
  main.record(test::perf_comm(5, 5, "prog", false, 0)).feature(24, version);
  dir_.write("threads/data", main.file());
  const auto part = [&](int number, std::initializer_list<uint64_t> times) {
    PerfData data;
    for (const uint64_t time : times) data.record(sample(time, time, number));
    dir_.write(fmt::format("threads/data.{}", number), data.records());
  };
  part(0, {300, 400});
  part(1, {250, 350, 450});
  part(2, {});
  ASSERT_TRUE(import_path(name));
  EXPECT_EQ(names(), Lines{"19/34 @250 5 64 'prog'"});
  EXPECT_EQ(ticks(), (Lines{"10/23 @300 5 6 0 12c", "10/23 @400 5 6 0 190", "10/23 @250 5 6 0 fa",
                            "10/23 @350 5 6 0 15e", "10/23 @450 5 6 0 1c2"}));
  EXPECT_EQ(info("note"), Lines());
  // A part that is cut off.
  PerfData part_of;
  part_of.record(sample(1, 500, 2));
  dir_.write("threads/data.2", part_of.records().substr(0, 20));
  ASSERT_TRUE(import_path(name));
  EXPECT_EQ(ticks().size(), 5u);
  EXPECT_EQ(info("ended"), Lines{"running"});
  version[0] = 2;
  dir_.write("threads/data", main.feature(24, version).file());
  EXPECT_THAT(import_path(name).error().message, HasSubstr("a directory of the version 2"));
}

}  // namespace
}  // namespace pi::perfutil
