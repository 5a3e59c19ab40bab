// SPDX-License-Identifier: MIT
// Calls of the symbolizer, and changes of versions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record_builder.h"
#include "state/processes.h"

namespace {

using namespace test_support;
using testing::ElementsAre;

// Records its calls.
class CallRecorder final : public post::Symbolizer {
 public:
  void create(uint64_t time, uint32_t pid) override { add(time, "create", pid, 0); }
  void fork(uint64_t time, uint32_t a, uint32_t b) override { add(time, "fork", a, b); }
  void clone(uint64_t time, uint32_t a, uint32_t b) override { add(time, "clone", a, b); }
  void exec(uint64_t time, uint32_t pid) override { add(time, "exec", pid, 0); }
  void set_name(uint64_t time, uint32_t pid, std::string_view name) override {
    add(time, "name " + std::string(name), pid, 0);
  }
  bool add_module(uint64_t time, const pi::ModuleEntry& module) override {
    add(time, "module " + std::string(module.name), module.pid, 0);
    return true;
  }
  void release(uint32_t pid) override { released.push_back(pid); }
  post::Lookup lookup(uint64_t, uint32_t, uint64_t) override { return {}; }
  void look_for_logs(const post::ProcessIds& process) override {
    log_searches.push_back(std::to_string(process.pid) + " " + std::to_string(process.inner_pid));
  }
  uint64_t next_code_change(uint64_t time, uint32_t) override { return time / 100 * 100 + 100; }
  std::vector<pi::ThreadStart> thread_starts(const post::ProcessIds& process) override {
    return process.pid == 10 ? starts : std::vector<pi::ThreadStart>();
  }
  std::vector<std::string> notes() override { return {}; }

  std::vector<std::string> calls;
  std::vector<uint32_t> released;
  std::vector<std::string> log_searches;  // look_for_logs(): pid and pid in the namespace
  std::vector<pi::ThreadStart> starts;

 private:
  void add(uint64_t time, std::string what, uint32_t a, uint32_t b) {
    calls.push_back(std::to_string(time) + " " + what + " " + std::to_string(a) + " " +
                    std::to_string(b));
  }
};

class ProcessesTest : public testing::Test {
 protected:
  void apply(const RecordBuilder& records) {
    Bytes bytes = records.bytes();
    for (std::span<const std::byte> rest = bytes; !rest.empty();) {
      const pi::RecordView record(rest);
      ASSERT_TRUE(record.valid());
      EXPECT_TRUE(processes_.apply(record, record.time_lo()));
      rest = rest.subspan(record.length());
    }
  }
  std::string name_of(uint32_t pid) {
    return names_.text(processes_.process_name(processes_.find(pid)));
  }
  std::string thread_of(uint32_t pid, uint32_t tid) {
    return names_.text(processes_.thread_name(processes_.find(pid), tid));
  }

  CallRecorder recorder_;
  post::StringTable names_;
  post::Processes processes_{recorder_, names_};
};

TEST_F(ProcessesTest, CallsTheSymbolizerInOrderAndCreatesNewProcesses) {
  apply(RecordBuilder(false)
            .existing(1, 10, 1)
            .name(2, 10, "sh")
            .module(3, {10, 0, 0x1000, 0x1000, 0, 0}, "/bin/sh")
            .fork(4, 11, 10)
            .exec(5, 11)
            .name(6, 11, "ls")
            .clone(7, 12, 11)
            .kill(8, 11)
            .existing(9, 10, 1));
  EXPECT_THAT(recorder_.calls,
              ElementsAre("1 create 10 0", "2 name sh 10 0", "3 module /bin/sh 10 0",
                          "4 fork 10 11", "5 exec 11 0", "6 name ls 11 0", "7 clone 11 12"));
  EXPECT_EQ(name_of(10), "sh");
  EXPECT_EQ(name_of(11), "ls");
  EXPECT_EQ(name_of(12), "ls");
}

TEST_F(ProcessesTest, ForkOfAnUnknownParentCreatesIt) {
  apply(RecordBuilder(false).fork(4, 11, 10));
  EXPECT_THAT(recorder_.calls, ElementsAre("4 create 10 0", "4 fork 10 11"));
  EXPECT_EQ(name_of(11), "");
}

TEST_F(ProcessesTest, VersionsChangeWithMappingsAndNames) {
  apply(RecordBuilder(false).name(1, 10, "a").clone(2, 11, 10));
  const post::Process& process = processes_.find(10);
  const post::Process& clone = processes_.find(11);
  EXPECT_EQ(*process.maps_version, *clone.maps_version);
  const uint32_t maps = *process.maps_version;
  const uint32_t names = process.names_version;
  apply(RecordBuilder(false).module(3, {11, 0, 0x1000, 0x1000, 0, 0}, "/lib/x"));
  EXPECT_NE(*process.maps_version, maps);
  EXPECT_EQ(*process.maps_version, *clone.maps_version);
  EXPECT_EQ(process.names_version, names);
  apply(RecordBuilder(false).thread_name(4, 10, 12, "worker"));
  EXPECT_NE(process.names_version, names);
  const uint32_t shared = *process.maps_version;
  apply(RecordBuilder(false).exec(5, 11));
  EXPECT_EQ(*process.maps_version, shared);
  EXPECT_NE(*clone.maps_version, shared);
}

TEST_F(ProcessesTest, TheNewerNameOfTheMainThreadWins) {
  apply(RecordBuilder(false).name(1, 10, "app").thread_name(2, 10, 10, "main"));
  EXPECT_EQ(thread_of(10, 10), "main");
  EXPECT_EQ(name_of(10), "app");
  apply(RecordBuilder(false).name(3, 10, "renamed"));
  EXPECT_EQ(thread_of(10, 10), "renamed");
}

TEST_F(ProcessesTest, ExecEndsTheMainThreadsName) {
  apply(RecordBuilder(false).name(1, 10, "app").thread_name(2, 10, 10, "main").exec(3, 10));
  EXPECT_EQ(thread_of(10, 10), "app");
}

TEST_F(ProcessesTest, FallbackNamesAreUsedUntilANameRecord) {
  processes_.add_fallback_name(10, "late");
  processes_.add_fallback_name(10, "later");
  EXPECT_EQ(name_of(10), "late");
  EXPECT_EQ(thread_of(10, 10), "late");
  apply(RecordBuilder(false).name(1, 10, "true"));
  EXPECT_EQ(name_of(10), "true");
}

TEST_F(ProcessesTest, AThreadInheritsTheNameOfItsCreator) {
  apply(RecordBuilder(false)
            .name(1, 10, "app")
            .thread_name(2, 10, 11, "maker")
            .mte(3, PITRACE_MTE_CREATE_THREAD, {10, 12, 11})
            .mte(4, PITRACE_MTE_CREATE_THREAD, {10, 13, 10})
            .name(5, 10, "renamed"));
  EXPECT_EQ(thread_of(10, 12), "maker");
  EXPECT_EQ(thread_of(10, 13), "app");
  EXPECT_EQ(thread_of(10, 10), "renamed");
  // The tid is reused, and the creator is unknown.
  apply(RecordBuilder(false).new_thread(6, 10, 12));
  EXPECT_EQ(thread_of(10, 12), "renamed");
}

TEST_F(ProcessesTest, AChildInheritsTheNameOfTheForkingThread) {
  apply(RecordBuilder(false)
            .name(1, 10, "app")
            .thread_name(2, 10, 11, "forker")
            .mte(3, PITRACE_MTE_PARENT, {20, 10, PITRACE_PARENT_FORK, 11})
            .mte(4, PITRACE_MTE_PARENT, {21, 10, PITRACE_PARENT_FORK, 10}));
  EXPECT_EQ(name_of(20), "forker");
  EXPECT_EQ(name_of(21), "app");
}

TEST_F(ProcessesTest, LifetimesHaveParentsAlsoOfOrphansAndReusedIds) {
  apply(RecordBuilder(false)
            .existing(1, 10, 1)
            .name(2, 10, "sh")
            .fork(3, 11, 10)
            .fork(4, 12, 11)
            .kill(5, 11)
            .existing(6, 12, 1)  // snapshot at the end: the new parent of the orphan
            .fork(7, 11, 12));
  std::vector<std::pair<uint32_t, uint32_t>> links;
  for (const post::ProcessLifetime& lifetime : processes_.lifetimes())
    links.emplace_back(lifetime.pid, lifetime.parent);
  EXPECT_EQ(links,
            (std::vector<std::pair<uint32_t, uint32_t>>{{10, 1}, {11, 10}, {12, 11}, {11, 12}}));
}

TEST_F(ProcessesTest, LifetimesHaveTheTimesOfStartExecAndEnd) {
  apply(RecordBuilder(false)
            .existing(1, 10, 1)
            .fork(2, 11, 10)
            .mte(3, PITRACE_MTE_CREATE, {11})
            .mte(4, PITRACE_MTE_CREATE, {11})
            .kill(5, 11)
            .fork(6, 11, 10)
            .kill(7, 99));
  const auto& lifetimes = processes_.lifetimes();
  ASSERT_EQ(lifetimes.size(), 3u);
  const auto times = [](const post::ProcessLifetime& lifetime) {
    return std::array<uint64_t, 3>{lifetime.start, lifetime.exec, lifetime.end};
  };
  EXPECT_EQ(times(lifetimes[0]), (std::array<uint64_t, 3>{0, 0, 0}));
  EXPECT_EQ(times(lifetimes[1]), (std::array<uint64_t, 3>{2, 3, 5}));
  EXPECT_EQ(times(lifetimes[2]), (std::array<uint64_t, 3>{6, 0, 0}));
}

// perf reports the end of the first thread like that of the process.
TEST_F(ProcessesTest, AProcessEndsWithItsLastThread) {
  apply(RecordBuilder(false)
            .existing(1, 1, 0)
            .existing(1, 10, 1)
            .mte(2, PITRACE_MTE_KILL_THREAD, {10, 12})
            .mte(5, PITRACE_MTE_KILL_THREAD, {10, 10})
            .kill(5, 10)
            .mte(9, PITRACE_MTE_KILL_THREAD, {10, 11}));
  EXPECT_EQ(processes_.lifetimes().back().end, 9u);
  apply(RecordBuilder(false).fork(10, 10, 1).mte(11, PITRACE_MTE_KILL_THREAD, {10, 13}));
  ASSERT_EQ(processes_.lifetimes().size(), 3u);
  EXPECT_EQ(processes_.lifetimes()[1].end, 9u);
  EXPECT_EQ(processes_.lifetimes()[2].end, 0u);
}

TEST_F(ProcessesTest, LifetimesHaveNamespaceIdsAndWordSize) {
  apply(RecordBuilder(false)
            .fork(1, 11, 10)
            .mte(2, PITRACE_MTE_NAMESPACE_IDS, {11, 11, 1, 1, 77})
            .mte(3, PITRACE_MTE_NAMESPACE_IDS, {11, 12, 1, 2, 77})
            .mte(4, PITRACE_MTE_NAMESPACE_IDS, {11, 12, 1, 2, 77})
            .string(5, PITRACE_MTE_NAME, {11, PITRACE_NAME_32}, "narrow"));
  const post::ProcessLifetime& lifetime = *processes_.find(11).lifetime;
  EXPECT_EQ(lifetime.inner_pid, 1u);
  EXPECT_EQ(lifetime.pid_namespace, 77u);
  EXPECT_EQ(lifetime.inner_threads, (std::map<uint32_t, uint32_t>{{12, 2}}));
  EXPECT_EQ(lifetime.bits, 32u);
}

TEST_F(ProcessesTest, AForkInheritsTheControlGroupAndAnExecKeepsItUntilARecord) {
  apply(RecordBuilder(false)
            .existing(1, 10, 1)
            .string(1, PITRACE_MTE_CGROUP, {10, PITRACE_CGROUP_V2}, "/a.service")
            .fork(2, 11, 10)
            .mte(3, PITRACE_MTE_CREATE, {11}));
  const auto cgroup = [&](uint32_t pid) { return names_.text(processes_.find(pid).cgroup); };
  EXPECT_EQ(cgroup(11), "/a.service");
  const uint32_t before = processes_.find(11).names_version;
  apply(RecordBuilder(false).string(4, PITRACE_MTE_CGROUP, {11, PITRACE_CGROUP_V2}, "/b.service"));
  EXPECT_EQ(cgroup(11), "/b.service");
  EXPECT_EQ(cgroup(10), "/a.service");
  EXPECT_NE(processes_.find(11).names_version, before);
  // Another process gets the id.
  apply(RecordBuilder(false).fork(5, 10, 12));
  EXPECT_EQ(cgroup(10), "");
}

TEST_F(ProcessesTest, ProcessReferencesStayValid) {
  const post::Process& first = processes_.find(1);
  for (uint32_t pid = 2; pid < 50'000; ++pid) processes_.find(pid);
  EXPECT_EQ(&processes_.find(1), &first);
  EXPECT_EQ(processes_.find(1025).pid, 1025u);  // has the same cache slot as pid 1
  EXPECT_EQ(processes_.find(1).pid, 1u);
}

TEST_F(ProcessesTest, LogsAreSearchedAtTheFirstTickAndWhenTheProcessChanges) {
  apply(RecordBuilder(false).existing(1, 10, 1).name(1, 10, "java"));
  EXPECT_THAT(recorder_.log_searches, ElementsAre());
  processes_.at(10, 5);
  processes_.at(10, 6);
  EXPECT_THAT(recorder_.log_searches, ElementsAre("10 0"));
  // Namespace ids may become known later.
  apply(RecordBuilder(false).mte(7, PITRACE_MTE_NAMESPACE_IDS, {10, 10, 3, 3, 4711}));
  processes_.at(10, 8);
  EXPECT_THAT(recorder_.log_searches, ElementsAre("10 0", "10 3"));
  apply(RecordBuilder(false).module(9, {10, 0, 0x1000, 0x1000, 0, 0}, "/tmp/jit-3.dump"));
  processes_.at(10, 10);
  apply(RecordBuilder(false).fork(11, 10, 1));
  processes_.at(10, 12);
  EXPECT_THAT(recorder_.log_searches, ElementsAre("10 0", "10 3", "10 3", "10 0"));
}

TEST_F(ProcessesTest, MapsVersionChangesAtTheNextCodeChange) {
  apply(RecordBuilder(false).existing(1, 10, 1));
  int changes = 0;
  processes_.set_before_change([&] { ++changes; });
  const uint32_t first = *processes_.at(10, 20).maps_version;
  EXPECT_EQ(*processes_.at(10, 99).maps_version, first);
  EXPECT_NE(*processes_.at(10, 100).maps_version, first);
  EXPECT_EQ(changes, 2);
}

TEST_F(ProcessesTest, ThreadsHaveTheNamesFromTheRuntime) {
  recorder_.starts = {{50, 11, "main"}, {80, 12, "Finalizer"}, {5'000'000'000, 13, "much later"}};
  apply(RecordBuilder(false).existing(1, 10, 1).name(1, 10, "java").new_thread(2, 10, 11));
  processes_.at(10, 40);
  EXPECT_EQ(thread_of(10, 11), "java");
  processes_.at(10, 50);
  EXPECT_EQ(thread_of(10, 11), "main");
  // The kernel's name is at most a prefix of it.
  apply(RecordBuilder(false).thread_name(60, 10, 11, "mai"));
  EXPECT_EQ(thread_of(10, 11), "main");
  // A thread's ticks may precede the runtime's start event, but not by seconds.
  apply(RecordBuilder(false).new_thread(70, 10, 12).new_thread(70, 10, 13));
  EXPECT_EQ(thread_of(10, 12), "Finalizer");
  EXPECT_EQ(thread_of(10, 13), "java");
  // A new thread with a reused id does not inherit the runtime's name.
  apply(RecordBuilder(false).new_thread(90, 10, 11).thread_name(90, 10, 11, "other"));
  EXPECT_EQ(thread_of(10, 11), "other");
}

TEST_F(ProcessesTest, ThreadsInAContainerAreFoundByNamespaceIds) {
  recorder_.starts = {{50, 3, "main"}, {50, 7, "Finalizer"}, {50, 99, "unknown"}};
  apply(RecordBuilder(false)
            .existing(1, 10, 1)
            .mte(2, PITRACE_MTE_NAMESPACE_IDS, {10, 10, 3, 3, 4711})
            .mte(2, PITRACE_MTE_NAMESPACE_IDS, {10, 12, 3, 7, 4711}));
  processes_.at(10, 60);
  EXPECT_EQ(thread_of(10, 10), "main");
  EXPECT_EQ(thread_of(10, 12), "Finalizer");
}

TEST_F(ProcessesTest, ProcessesAreReleasedASecondAfterTheirEnd) {
  constexpr uint32_t second = 1'000'000'000;
  processes_.release_ended();
  apply(RecordBuilder(false)
            .name(1, 10, "sh")
            .fork(2, 11, 10)
            .fork(2, 12, 10)
            .kill(10, 11)
            .kill(second, 12)
            .name(second + 10, 10, "x"));
  EXPECT_THAT(recorder_.released, ElementsAre());
  apply(RecordBuilder(false).name(second + 11, 10, "y"));
  EXPECT_THAT(recorder_.released, ElementsAre(11u));
  apply(RecordBuilder(false).name(2 * second + 1, 10, "z"));
  EXPECT_THAT(recorder_.released, ElementsAre(11u, 12u));
}

TEST_F(ProcessesTest, WhatMayRunOnIsNotReleased) {
  constexpr uint32_t second = 1'000'000'000;
  processes_.release_ended();
  apply(RecordBuilder(false)
            .name(1, 10, "old")  // which threads it has is not known
            .kill(2, 10)
            .fork(3, 11, 20)  // its first thread ends before another one
            .new_thread(4, 11, 111)
            .mte(5, PITRACE_MTE_KILL_THREAD, {11, 11})
            .kill(5, 11)
            .fork(6, 12, 20)  // another thread execs, and has its id from then on
            .new_thread(7, 12, 112)
            .kill(8, 12)
            .exec(9, 12)
            .fork(10, 13, 20)  // the id is used again
            .kill(11, 13)
            .fork(12, 13, 20)
            .name(2 * second, 20, "x"));
  EXPECT_THAT(recorder_.released, ElementsAre());
  apply(RecordBuilder(false)
            .mte(2 * second, PITRACE_MTE_KILL_THREAD, {11, 111})
            .kill(2 * second, 12)
            .kill(2 * second, 13)
            .name(3 * second + 1, 20, "y"));
  EXPECT_THAT(recorder_.released, ElementsAre(11u, 12u, 13u));
}

TEST_F(ProcessesTest, NothingIsReleasedUnlessAsked) {
  apply(RecordBuilder(false).fork(3, 11, 20).kill(5, 11).name(2'000'000'000, 20, "x"));
  EXPECT_THAT(recorder_.released, ElementsAre());
}

}  // namespace
