// SPDX-License-Identifier: MIT
// Times of threads against a known schedule.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "input_stride.h"
#include "post_run.h"
#include "text_trace.h"

namespace {

using namespace test_support;
using pi::nrm2::section_trace;
using Json = nlohmann::json;

post::Options off_cpu_options() {
  post::Options options;
  options.off_cpu = true;
  options.report.clip_percent = 0;
  return options;
}

Json off_cpu_of(const Bytes& trace) {
  FakeSymbolizer symbolizer;
  const PostRun run = run_post(trace, symbolizer, off_cpu_options());
  EXPECT_TRUE(run.error.empty()) << run.error;
  return Json::parse(run.json)["off_cpu"];
}

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(engine_() % limit); }

 private:
  std::mt19937 engine_;
};

struct Expected {
  uint64_t running = 0;
  uint64_t runnable = 0;
  uint64_t blocked = 0;
};

// One processor; each thread is at any time running, runnable or blocked.
TEST(OffCpu, AgreesWithAKnownScheduleOfOneProcessor) {
  enum ThreadState { runnable, blocked, running };
  constexpr uint32_t threads = 12;
  Random random(17);
  RecordBuilder records;
  uint64_t time = 1000;
  // Each thread has a record at the beginning, so that no time is unknown.
  std::vector<ThreadState> states(threads, runnable);
  std::vector<Expected> expected(threads);
  for (uint32_t i = 0; i < threads; ++i) records.wakeup(time, i + 1, 0, 0);
  uint32_t now = threads;  // the idle task
  for (int step = 0; step < 20'000; ++step) {
    const uint64_t passed = random.below(1000);
    time += passed;
    for (uint32_t i = 0; i < threads; ++i)
      (states[i] == running    ? expected[i].running
       : states[i] == runnable ? expected[i].runnable
                               : expected[i].blocked) += passed;
    const uint32_t other = random.below(threads);
    if (random.below(3) == 0) {
      records.wakeup(time, other + 1, now == threads ? 0 : now + 1, 0);
      if (states[other] == blocked) states[other] = runnable;
      continue;
    }
    const bool preempt = random.below(2) == 0;
    if (now != threads) states[now] = preempt ? runnable : blocked;
    now = states[other] == runnable ? other : threads;
    if (now != threads) states[now] = running;
    records.dispatch(time, now == threads ? 0 : now + 1, now == threads ? 0 : now + 1,
                     preempt ? PITRACE_STATE_PREEMPTED : PITRACE_STATE_SLEEPING);
  }
  TraceBuilder trace;
  trace.section(section_trace, {}, records.bytes());
  const Json json = off_cpu_of(trace.bytes());
  EXPECT_EQ(json["contradictions"], 0);
  ASSERT_EQ(json["threads"].size(), threads);
  for (const Json& thread : json["threads"]) {
    const std::string name = thread["thread"];
    const Expected& right = expected[std::stoul(name.substr(4), nullptr, 16) - 1];
    EXPECT_EQ(thread["running_ns"], right.running) << name;
    EXPECT_EQ(thread["runnable_ns"], right.runnable) << name;
    EXPECT_EQ(thread["blocked_ns"], right.blocked) << name;
    EXPECT_EQ(thread["unknown_ns"], 0) << name;
  }
}

// With random dispatches and losses, waits never exceed the time off the CPU, and wakers' shares
// never exceed their wait.
// The kernel has no record of a switch from 48 to 32.
TEST(OffCpu, AroundASwitchThatIsNotReportedTimesAreUnknown) {
  RecordBuilder records;
  records.dispatch(1000, 32, 32, PITRACE_STATE_RUNNABLE)
      .dispatch(5000, 48, 48, PITRACE_STATE_PREEMPTED)
      .running(9000, 32, 32)
      .dispatch(9000, 0, 0, PITRACE_STATE_SLEEPING)
      .dispatch(12000, 32, 32, PITRACE_STATE_RUNNABLE)
      .running(13000, 32, 32)  // as is known already
      .dispatch(15000, 0, 0, PITRACE_STATE_SLEEPING)
      .wakeup(20000, 99, 0, 0);
  TraceBuilder trace;
  trace.section(section_trace, {}, records.bytes());
  const Json json = off_cpu_of(trace.bytes());
  EXPECT_EQ(json["dispatches"], 5);
  EXPECT_EQ(json["unreported"], 1);
  EXPECT_EQ(json["gaps"], 0);
  EXPECT_EQ(json["contradictions"], 0);
  const auto times = [&](const std::string& tid) {
    for (const Json& thread : json["threads"])
      if (thread["thread"].get<std::string>().ends_with(tid))
        return std::vector<uint64_t>{thread["running_ns"], thread["runnable_ns"],
                                     thread["blocked_ns"], thread["unknown_ns"],
                                     thread["dispatches"]};
    return std::vector<uint64_t>();
  };
  EXPECT_EQ(times("_0020"), (std::vector<uint64_t>{7000, 0, 8000, 4000, 2}));
  // All of its time is unknown, so it is not shown.
  EXPECT_EQ(times("_0030"), std::vector<uint64_t>());
}

TEST(OffCpu, WaitsNeverExceedTheTimeOffTheCpu) {
  Random random(23);
  for (size_t round = 0; round < test_support::rounds(200); ++round) {
    TraceBuilder trace;
    for (uint32_t cpu = 0; cpu < 3; ++cpu) {
      RecordBuilder records;
      uint64_t time = 1000 + random.below(5000);
      uint64_t lost = 0;
      for (int i = 0; i < 60; ++i) {
        time += random.below(500);
        const uint32_t tid = random.below(6);
        switch (random.below(8)) {
          case 0:
            records.wakeup(time, tid, random.below(6), cpu);
            break;
          case 1:
            records.lost(time, lost += random.below(3));
            break;
          case 2:
            records.migrate(time, tid, random.below(3));
            break;
          case 3:
            records.running(time, tid / 2, tid);
            break;
          default:
            records.dispatch(time, tid / 2, tid, random.below(10));
        }
      }
      trace.section(section_trace, {.cpu = cpu, .cpus = 3}, records.bytes());
    }
    const Json json = off_cpu_of(trace.bytes());
    for (const Json& thread : json["threads"]) {
      const uint64_t known = thread["running_ns"].get<uint64_t>() +
                             thread["runnable_ns"].get<uint64_t>() +
                             thread["blocked_ns"].get<uint64_t>();
      uint64_t waits = 0;
      for (const Json& wait : thread["waits"]) {
        waits += wait["blocked_ns"].get<uint64_t>() + wait["runnable_ns"].get<uint64_t>();
        uint64_t woken = 0;
        for (const Json& waker : wait["wakers"]) woken += waker["blocked_ns"].get<uint64_t>();
        ASSERT_LE(woken, wait["blocked_ns"].get<uint64_t>());
      }
      ASSERT_LE(waits,
                thread["runnable_ns"].get<uint64_t>() + thread["blocked_ns"].get<uint64_t>());
      ASSERT_GT(known, 0u);
    }
  }
}

}  // namespace
