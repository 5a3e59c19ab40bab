// SPDX-License-Identifier: MIT
// Conversion of each kind of perf record to trace records.
#include "perf/perf_convert.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "perf_records.h"
#include "perfutil.h"
#include "source/major_set.h"
#include "streams.h"
#include "temp_dir.h"

namespace pi::perfutil {
namespace {

using test::PerfRecord;
using Lines = std::vector<std::string>;

class PerfConvert : public ::testing::Test {
 protected:
  PerfConvert() : buffers_(1 << 20, 1 << 20) {
    EXPECT_TRUE(buffers_.add_cpu(0));
    converter_.set_enabled(majors_meant(PITRACE_MAJOR_TPROF_SET));
  }
  UserBuffer& trace() { return buffers_.at(0, PITRACE_BUFFER_TRACE); }
  UserBuffer& mte() { return buffers_.at(0, PITRACE_BUFFER_MTE); }
  void tick(const std::vector<std::byte>& record) { converter_.convert_tick(record, trace()); }
  void side(const std::vector<std::byte>& record) { converter_.convert_side_band(record, mte()); }

  const test::TempDir proc_;
  BufferSet buffers_;
  PerfConverter converter_{true, proc_.path()};
};

TEST_F(PerfConvert, ASampleBecomesATickOfItsPrivilegeLevel) {
  tick(test::perf_sample(PERF_RECORD_MISC_USER, 0x7ffffef4805f, 0x1058, 0x1044, 100));
  tick(test::perf_sample(PERF_RECORD_MISC_KERNEL, 0xffffffff81000010, 0, 0, 101));
  EXPECT_EQ(test::lines_of(trace().unread().records),
            (Lines{"10/23 @100 1058 1044 7fff fef4805f", "10/20 @101 0 0 ffffffff 81000010"}));
}

TEST_F(PerfConvert, ASampleOfATaskPastReleaseKeepsMinusOne) {
  tick(test::perf_sample(PERF_RECORD_MISC_KERNEL, 1, 0xffffffff, 0xffffffff, 5));
  TprofTick decoded{};
  ASSERT_TRUE(decode_tprof(test::records_of(trace().unread().records)[0].view, decoded));
  EXPECT_EQ(decoded.pid, 0xffffffffu);
  EXPECT_EQ(decoded.tid, 0xffffffffu);
}

constexpr uint64_t kernel_mark = static_cast<uint64_t>(PERF_CONTEXT_KERNEL);
constexpr uint64_t user_mark = static_cast<uint64_t>(PERF_CONTEXT_USER);
constexpr uint16_t switch_out = PERF_RECORD_MISC_SWITCH_OUT;
constexpr uint16_t is_preempted = switch_out | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;

TEST_F(PerfConvert, AChainBecomesAStackWithoutTheTicksOwnAddress) {
  converter_.set_stacks({PITRACE_STACKS_KERNEL | PITRACE_STACKS_USER, 8}, 20);
  tick(test::perf_chain(PERF_RECORD_MISC_USER, 0x10, 5, 1, {user_mark, 0x10, 0x20, 0x30}));
  tick(test::perf_chain(
      PERF_RECORD_MISC_KERNEL, 0xffffffff81000010, 5, 2,
      {kernel_mark, 0xffffffff81000010, 0xffffffff81000020, user_mark, 0x10, 0x20}));
  EXPECT_EQ(test::lines_of(trace().unread().records),
            (Lines{"10/23 @1 5 5 0 10 200 0 20 0 30",
                   "10/20 @2 5 5 ffffffff 81000010 201 ffffffff 81000020 0 10 0 20"}));
}

TEST_F(PerfConvert, WithUserStacksOnlyAKernelTickKeepsTheFirstUserEntry) {
  converter_.set_stacks({PITRACE_STACKS_USER, 8}, 10);
  tick(test::perf_chain(PERF_RECORD_MISC_KERNEL, 0xffffffff81000010, 5, 2, {user_mark, 0x10}));
  EXPECT_EQ(test::lines_of(trace().unread().records),
            (Lines{"10/20 @2 5 5 ffffffff 81000010 100 0 10"}));
}

TEST_F(PerfConvert, AStackThatIsTooDeepIsCutAndMarked) {
  converter_.set_stacks({PITRACE_STACKS_KERNEL | PITRACE_STACKS_USER, 1}, 100);
  tick(test::perf_chain(PERF_RECORD_MISC_KERNEL, 0x1, 5, 2,
                        {kernel_mark, 0x1, 0x2, 0x3, user_mark, 0x10, 0x20}));
  const auto records = test::records_of(trace().unread().records);
  const StackView stack = stack_of_tprof(records[0].view);
  ASSERT_TRUE(stack.exists());
  EXPECT_EQ(stack.flags(), PITRACE_STACK_KERNEL_CUT | PITRACE_STACK_USER_CUT);
  EXPECT_EQ(stack.kernel_frames(), 1u);
  EXPECT_EQ(stack.user_frames(), 1u);
  EXPECT_EQ(stack.frame(0), 0x2u);
  EXPECT_EQ(stack.frame(1), 0x10u);
}

TEST_F(PerfConvert, AChainOfTheKernelsMaximumLengthIsCut) {
  converter_.set_stacks({PITRACE_STACKS_KERNEL | PITRACE_STACKS_USER, 100}, 4);
  tick(test::perf_chain(PERF_RECORD_MISC_KERNEL, 1, 5, 1, {kernel_mark, 1, 2, user_mark, 3, 4}));
  tick(test::perf_chain(PERF_RECORD_MISC_KERNEL, 1, 5, 2, {kernel_mark, 1, 2, 3, 4}));
  const auto records = test::records_of(trace().unread().records);
  EXPECT_EQ(stack_of_tprof(records[0].view).flags(), uint32_t{PITRACE_STACK_USER_CUT});
  EXPECT_EQ(stack_of_tprof(records[1].view).flags(), uint32_t{PITRACE_STACK_KERNEL_CUT});
}

TEST_F(PerfConvert, WithoutStacksATickHasNoExtraBytes) {
  tick(test::perf_sample(PERF_RECORD_MISC_USER, 1, 1, 1, 1));
  const auto records = test::records_of(trace().unread().records);
  EXPECT_EQ(records[0].view.length(), uint32_t{PITRACE_TPROF_SIZE});
  EXPECT_FALSE(stack_of_tprof(records[0].view).exists());
}

TEST_F(PerfConvert, AChainThatReachesBeyondItsRecordIsCountedAsLost) {
  converter_.set_stacks({PITRACE_STACKS_USER, 8}, 10);
  const auto whole = test::perf_chain(PERF_RECORD_MISC_USER, 1, 1, 1, {user_mark, 1, 2});
  for (size_t size = sizeof(perf_event_header); size < whole.size(); ++size)
    tick(std::vector<std::byte>(whole.begin(), whole.begin() + static_cast<long>(size)));
  EXPECT_EQ(trace().unread().counts.written, 0u);
  EXPECT_EQ(trace().unread().counts.lost[PITRACE_LOST_SOURCE], whole.size() - 8);
}

TEST_F(PerfConvert, SwitchOutBecomesDispatchOfNext) {
  converter_.set_enabled(majors_meant(PITRACE_MAJOR_DISPATCH));
  tick(test::perf_switch(switch_out, 5, 6, 10));
  tick(test::perf_switch(0, 6, 5, 11));  // the switch-in of the same switch
  tick(test::perf_switch(is_preempted, 6, 7, 12));
  tick(test::perf_switch(is_preempted, 0, 5, 13));  // the idle task is always runnable
  EXPECT_EQ(test::lines_of(trace().unread().records),
            (Lines{"12/6 @10 6 8", "12/7 @12 7 100", "12/5 @13 5 0"}));
}

TEST_F(PerfConvert, SwitchInWithoutSwitchOutBecomesDispatch) {
  converter_.set_enabled(majors_meant(PITRACE_MAJOR_DISPATCH));
  tick(test::perf_switch(0, 6, 0, 11));  // without the switch-out of the idle task
  tick(test::perf_switch(switch_out, 6, 0, 12));
  tick(test::perf_switch(0, 7, 5, 13));  // the switch-out was lost
  EXPECT_EQ(test::lines_of(trace().unread().records),
            (Lines{"12/6 @11 6 0", "12/0 @12 0 8", "12/7 @13 7 7"}));
}

TEST_F(PerfConvert, ASwitchToAThreadWithoutIdsIsCountedAsLost) {
  constexpr uint32_t no_id = ~0u;
  converter_.set_enabled(majors_meant(PITRACE_MAJOR_DISPATCH));
  tick(test::perf_switch(0, no_id, 7, 9));  // the switch-out was lost
  tick(test::perf_switch(switch_out, no_id, 5, 10));
  tick(test::perf_switch(is_preempted, 5, no_id, 11));
  tick(test::perf_switch(0, no_id, 5, 12));  // the switch-in of the same switch
  tick(test::perf_switch(switch_out, no_id, 7, 13));
  EXPECT_EQ(test::lines_of(trace().unread().records), (Lines{"12/5 @10 5 8", "12/7 @13 7 8"}));
  EXPECT_EQ(trace().unread().counts.lost[PITRACE_LOST_SOURCE], 2u);
}

TEST_F(PerfConvert, InTheProcessScopeOtherThreadsAreTheIdleTask) {
  converter_.set_enabled(majors_meant(PITRACE_MAJOR_DISPATCH));
  tick(PerfRecord(PERF_RECORD_SWITCH).end(5, 6, 10));
  tick(PerfRecord(PERF_RECORD_SWITCH, switch_out).end(5, 6, 11));
  EXPECT_EQ(test::lines_of(trace().unread().records), (Lines{"12/5 @10 6 0", "12/0 @11 0 8"}));
}

TEST_F(PerfConvert, InTheProcessScopeAnEndedThreadIsNotRunnable) {
  converter_.set_enabled(majors_meant(PITRACE_MAJOR_DISPATCH));
  tick(PerfRecord(PERF_RECORD_SWITCH).end(5, 6, 10));
  tick(PerfRecord(PERF_RECORD_SWITCH).end(5, 7, 11));  // without the first thread's switch-out
  EXPECT_EQ(test::lines_of(trace().unread().records), (Lines{"12/5 @10 6 0", "12/5 @11 7 7"}));
}

TEST_F(PerfConvert, TheStackAtSwitchOutIsInTheDispatchAndIsNoTick) {
  constexpr uint64_t switches = 99;
  converter_.set_enabled(majors_meant(PITRACE_MAJOR_ALL));
  converter_.set_stacks({PITRACE_STACKS_USER, 8}, 10);
  converter_.add_switch_stacks(switches);
  tick(test::perf_chain(PERF_RECORD_MISC_KERNEL, 0x1, 5, 9, {user_mark, 0x10, 0x20}, switches));
  tick(test::perf_switch(switch_out, 5, 6, 10));
  tick(test::perf_switch(switch_out, 6, 5, 20));
  // The stack is of another thread than the one that is switched out: records were lost between
  // them.
  tick(test::perf_chain(PERF_RECORD_MISC_KERNEL, 0x1, 8, 29, {user_mark, 0x10}, switches));
  tick(test::perf_switch(switch_out, 5, 6, 30));
  EXPECT_EQ(test::lines_of(trace().unread().records),
            (Lines{"12/6 @10 6 8 200 0 10 0 20", "12/5 @20 5 8", "12/6 @30 6 8"}));
}

TEST_F(PerfConvert, SwitchesHaveATimeAndAreLeftOutWhenDispatchIsDisabled) {
  EXPECT_EQ(PerfConverter::tick_time(test::perf_switch(switch_out, 5, 6, 10)), 10u);
  tick(test::perf_switch(switch_out, 5, 6, 10));
  EXPECT_EQ(trace().unread().counts.produced, 0u);
}

TEST_F(PerfConvert, AnExecBecomesCreateThenName) {
  side(test::perf_comm(42, 42, "fresh", true, 7));
  EXPECT_EQ(test::lines_of(mte().unread().records),
            (Lines{"19/64 @7 2a", "19/34 @7 2a 64 'fresh'"}));
}

TEST_F(PerfConvert, AnExecIsFollowedByTheControlGroupThatTheProcessIsInNow) {
  (void)proc_.write("42/cgroup", "0::/system.slice/a.service\n");
  side(test::perf_comm(42, 42, "fresh", true, 7));
  side(test::perf_comm(42, 42, "renamed", false, 8));
  EXPECT_EQ(test::lines_of(mte().unread().records),
            (Lines{"19/64 @7 2a", "19/34 @7 2a 64 'fresh'",
                   "19/69 @7 2a 2 '/system.slice/a.service'", "19/34 @8 2a 64 'renamed'"}));
}

TEST_F(PerfConvert, ARenameNamesTheProcessOrTheThread) {
  side(test::perf_comm(42, 42, "main", false, 7));
  side(test::perf_comm(42, 43, "worker", false, 8));
  EXPECT_EQ(test::lines_of(mte().unread().records),
            (Lines{"19/34 @7 2a 64 'main'", "19/36 @8 2a 2b 'worker'"}));
}

TEST_F(PerfConvert, AForkNamesTheParentAndANewThreadTheThread) {
  side(test::perf_task(PERF_RECORD_FORK, 50, 42, 50, 42, 9));
  side(test::perf_task(PERF_RECORD_FORK, 50, 50, 51, 50, 10));
  EXPECT_EQ(test::lines_of(mte().unread().records),
            (Lines{"19/63 @9 32 2a 0 2a", "19/66 @10 32 33 32"}));
}

TEST_F(PerfConvert, TheCreatingThreadIsInTheRecord) {
  side(test::perf_task(PERF_RECORD_FORK, 50, 42, 50, 43, 9));
  side(test::perf_task(PERF_RECORD_FORK, 42, 42, 44, 43, 10));
  EXPECT_EQ(test::lines_of(mte().unread().records),
            (Lines{"19/63 @9 32 2a 0 2b", "19/66 @10 2a 2c 2b"}));
}

TEST_F(PerfConvert, AProgramWithItsVdsoBelowFourGigabytesHas32Bits) {
  side(test::perf_comm(42, 42, "narrow", true, 7));
  side(test::perf_mmap2(42, 0xf7fc0000, 0x1000, 0, 0, PROT_EXEC, "[vdso]", 8));
  side(test::perf_mmap2(42, 0xf7fc0000, 0x1000, 0, 0, PROT_EXEC, "[vdso]", 9));
  side(test::perf_comm(43, 43, "wide", true, 10));
  side(test::perf_mmap2(43, 0x7ffff7fc0000, 0x1000, 0, 0, PROT_EXEC, "[vdso]", 11));
  Lines names;
  for (const std::string& line : test::lines_of(mte().unread().records))
    if (line.starts_with("19/34")) names.push_back(line);
  EXPECT_EQ(names, (Lines{"19/34 @7 2a 64 'narrow'", "19/34 @8 2a 32 'narrow'",
                          "19/34 @10 2b 64 'wide'"}));
}

std::vector<std::byte> perf_namespaces(uint32_t pid, uint32_t tid, uint64_t pid_namespace) {
  PerfRecord record(PERF_RECORD_NAMESPACES);
  record.u32(pid).u32(tid).u64(NR_NAMESPACES);
  for (uint64_t i = 0; i < NR_NAMESPACES; ++i)
    record.u64(4).u64(i == PID_NS_INDEX ? pid_namespace : 0xf0000000 + i);
  return record.end(pid, tid, 12);
}

TEST_F(PerfConvert, TasksOfOtherPidNamespacesGetAnIdRecord) {
  const uint64_t own = NamespaceIdReader("/proc").own_namespace();
  ASSERT_NE(own, 0u);
  PerfConverter converter(true, "/proc");
  converter.set_enabled(majors_meant(PITRACE_MAJOR_TPROF_SET));
  converter.convert_side_band(perf_namespaces(1, 1, own), mte());
  EXPECT_TRUE(mte().unread().records.empty());
  // No process has this pid, so its ids in the namespace are unknown.
  converter.convert_side_band(perf_namespaces(0x7fffffff, 0x7ffffffe, own + 1), mte());
  EXPECT_EQ(test::lines_of(mte().unread().records),
            (Lines{fmt::format("19/68 @12 7fffffff 7ffffffe 0 0 {:x}", own + 1)}));
}

TEST_F(PerfConvert, AnExitKillsTheThreadAndWithTheMainThreadTheProcess) {
  side(test::perf_task(PERF_RECORD_EXIT, 50, 42, 51, 50, 9));
  side(test::perf_task(PERF_RECORD_EXIT, 50, 42, 50, 42, 10));
  EXPECT_EQ(test::lines_of(mte().unread().records),
            (Lines{"19/67 @9 32 33", "19/67 @10 32 32", "19/65 @10 32"}));
}

TEST_F(PerfConvert, AnExecutableMappingBecomesAModuleWithOffsetAndInode) {
  side(test::perf_mmap2(9, 0x7f0012345000, 0x1000, 0x22000, 0x123456789a, PROT_READ | PROT_EXEC,
                        "/usr/lib/libdemo.so", 3));
  ModuleEntry module{};
  ASSERT_TRUE(decode_module(test::records_of(mte().unread().records)[0].view, module));
  EXPECT_EQ(module.pid, 9u);
  EXPECT_EQ(module.address, 0x7f0012345000u);
  EXPECT_EQ(module.size, 0x1000u);
  EXPECT_EQ(module.offset, 0x22000u);
  EXPECT_EQ(module.inode, 0x123456789au);
  EXPECT_EQ(module.stamp, 0u);
  EXPECT_EQ(module.name, "/usr/lib/libdemo.so");
}

TEST_F(PerfConvert, MappingsThatAreNotExecutableAreLeftOut) {
  side(test::perf_mmap2(9, 0x1000, 0x1000, 0, 1, PROT_READ, "/usr/lib/libdemo.so", 3));
  EXPECT_TRUE(mte().unread().records.empty());
  EXPECT_EQ(mte().unread().counts.produced, 0u);
}

TEST_F(PerfConvert, SpecialMappingsHaveTheirStamps) {
  side(test::perf_mmap2(9, 0x1000, 0x1000, 0, 0, PROT_EXEC, "//anon", 1));
  side(test::perf_mmap2(9, 0x2000, 0x1000, 0, 0, PROT_EXEC, "[heap]", 2));
  side(test::perf_mmap2(9, 0x3000, 0x1000, 0, 0, PROT_EXEC, "[vdso]", 3));
  std::vector<std::pair<std::string, uint32_t>> seen;
  for (const auto& record : test::records_of(mte().unread().records)) {
    ModuleEntry module{};
    ASSERT_TRUE(decode_module(record.view, module));
    seen.emplace_back(module.name, module.stamp);
  }
  EXPECT_EQ(seen, (std::vector<std::pair<std::string, uint32_t>>{{"//anon", PITRACE_STAMP_ANON},
                                                                 {"//anon", PITRACE_STAMP_ANON},
                                                                 {"[vdso]", PITRACE_STAMP_VDSO}}));
}

TEST_F(PerfConvert, AnonymousMappingsAreLeftOutUnlessRequested) {
  PerfConverter converter(false, "/proc");
  converter.set_enabled(majors_meant(PITRACE_MAJOR_ALL));
  converter.convert_side_band(test::perf_mmap2(9, 0x1000, 4096, 0, 0, PROT_EXEC, "//anon", 1),
                              mte());
  EXPECT_EQ(mte().unread().counts.produced, 0u);
}

TEST_F(PerfConvert, TheBuildIdFlagOfAnotherToolsEventIsIgnored) {
  auto record = test::perf_mmap2(9, 0x1000, 4096, 0, 77, PROT_EXEC, "/a", 1);
  perf_event_header header{};
  std::memcpy(&header, record.data(), sizeof header);
  header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
  std::memcpy(record.data(), &header, sizeof header);
  side(record);
  ModuleEntry module{};
  ASSERT_TRUE(decode_module(test::records_of(mte().unread().records)[0].view, module));
  EXPECT_EQ(module.inode, 77u);
}

TEST_F(PerfConvert, LostRecordsCountAsProducedAndLostBySourceOfTheirRing) {
  tick(PerfRecord(PERF_RECORD_LOST).u64(1).u64(17).end(0, 0, 5));
  EXPECT_EQ(converter_.lost_in_last(), 17u);
  tick(PerfRecord(PERF_RECORD_LOST_SAMPLES).u64(3).end(0, 0, 5));
  side(PerfRecord(PERF_RECORD_LOST).u64(1).u64(4).end(0, 0, 5));
  EXPECT_EQ(trace().unread().counts.produced, 20u);
  EXPECT_EQ(trace().unread().counts.lost[PITRACE_LOST_SOURCE], 20u);
  EXPECT_EQ(mte().unread().counts.produced, 4u);
  EXPECT_EQ(mte().unread().counts.lost[PITRACE_LOST_SOURCE], 4u);
}

TEST_F(PerfConvert, ThrottlingIsCounted) {
  tick(PerfRecord(PERF_RECORD_THROTTLE).u64(1).u64(2).u64(3).end(0, 0, 1));
  tick(PerfRecord(PERF_RECORD_UNTHROTTLE).u64(1).u64(2).u64(3).end(0, 0, 1));
  EXPECT_EQ(converter_.throttled(), 1u);
  EXPECT_EQ(trace().unread().counts.produced, 0u);
}

TEST_F(PerfConvert, RecordsOfMajorsThatAreOffAreNotStored) {
  converter_.set_enabled({});
  tick(test::perf_sample(PERF_RECORD_MISC_USER, 1, 1, 1, 1));
  side(test::perf_comm(1, 1, "x", true, 1));
  EXPECT_EQ(trace().unread().counts.produced, 0u);
  EXPECT_EQ(mte().unread().counts.produced, 0u);
}

TEST_F(PerfConvert, ATruncatedRecordIsCountedAsLostAndNotReadBeyondItsEnd) {
  for (const auto& whole :
       {test::perf_mmap2(9, 1, 1, 0, 1, PROT_EXEC, "/x", 1), test::perf_comm(1, 1, "x", true, 1),
        test::perf_task(PERF_RECORD_FORK, 5, 4, 5, 4, 1),
        test::perf_task(PERF_RECORD_EXIT, 5, 4, 5, 4, 1), perf_namespaces(5, 5, 1)}) {
    // Each buffer has exactly the tested length, so that a sanitizer detects any read beyond it.
    for (size_t size = sizeof(perf_event_header); size < whole.size(); ++size)
      side(std::vector<std::byte>(whole.begin(), whole.begin() + static_cast<long>(size)));
  }
  const auto sample = test::perf_sample(PERF_RECORD_MISC_USER, 1, 1, 1, 1);
  for (size_t size = sizeof(perf_event_header); size < sample.size(); ++size)
    tick(std::vector<std::byte>(sample.begin(), sample.begin() + static_cast<long>(size)));
  const auto change = test::perf_switch(switch_out, 5, 6, 10);
  for (size_t size = sizeof(perf_event_header); size < change.size(); ++size)
    tick(std::vector<std::byte>(change.begin(), change.begin() + static_cast<long>(size)));
  EXPECT_EQ(trace().unread().counts.written, 0u);
  EXPECT_EQ(trace().unread().counts.lost[PITRACE_LOST_SOURCE], sample.size() + change.size() - 16);
  EXPECT_GT(mte().unread().counts.lost[PITRACE_LOST_SOURCE], 0u);
}

}  // namespace
}  // namespace pi::perfutil
