// SPDX-License-Identifier: MIT
// The flow of threads: owner and start of each block, and when the start is unknown.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "arc/flow.h"
#include "arc_line.h"
#include "post_run.h"
#include "read/merge.h"
#include "record_builder.h"

namespace {

using post::BlockEnd;
using test_support::Bytes;
using test_support::RecordBuilder;
using test_support::TraceBuilder;

struct RecordingSink final : post::FlowSink {
  void thread(uint32_t cpu, post::FlowThread& thread) override {
    text += fmt::format("cpu {} runs {}/{}\n", cpu, thread.pid, thread.tid);
  }
  void block(const post::FlowBlock& block) override {
    text +=
        fmt::format("{} {} {:x}{} to {:x} count {}\n", block.thread->tid, block.user ? "U" : "K",
                    block.start, block.placed ? "" : "?", block.end, block.count);
  }
  void cut(uint32_t, post::FlowThread& thread, const pi::ItraceCut& cut) override {
    text += fmt::format("{} cut {}{}\n", thread.tid, cut.vector, cut.resumed ? " ends" : "");
  }
  void gap(uint32_t, post::FlowThread& thread, const pi::ItraceGap& gap, bool user) override {
    text += fmt::format("{} gap {} {}\n", thread.tid, gap.reason, user ? "U" : "K");
  }
  void start(post::FlowThread& thread, const pi::ItraceStart&) override {
    text += fmt::format("{} starts\n", thread.tid);
  }
  void stop(post::FlowThread& thread, const pi::ItraceStop&) override {
    text += fmt::format("{} stops\n", thread.tid);
  }
  void loss(uint32_t cpu) override { text += fmt::format("loss on {}\n", cpu); }
  std::string text;
};

std::string flow_of(const std::vector<RecordBuilder>& cpus) {
  TraceBuilder trace;
  for (uint32_t cpu = 0; cpu < cpus.size(); ++cpu)
    trace.section(pi::nrm2::section_trace, {cpu, 0, 2, 0, 0}, cpus[cpu].bytes());
  post::MemorySource source(trace.bytes());
  post::DamageLog damage;
  const auto file = read_layout(source, damage);
  RecordingSink sink;
  post::Flow flow(sink);
  post::Merge merge(source, *file, damage, post::Merge::Select::all);
  while (merge.next())
    if (pi::is_itrace(merge.current().record())) flow.add(merge.current());
  return sink.text;
}

TEST(Flow, BlocksBeginAtTheTargetOfThePreviousBranch) {
  RecordBuilder cpu;
  cpu.itrace_thread(10, 7, 8)
      .itrace_start(11, 7, 8, 3, 0x1000)
      .branch(12, true, 0x1010, 0x2000, true, 4)
      .branch(13, true, 0x2020, 0x1012, true, 5)
      .itrace_stop(14, 1, 0, 2, 8, 2, 0x1018);
  EXPECT_EQ(flow_of({cpu}),
            "cpu 0 runs 7/8\n8 starts\n8 U 1000 to 1010 count 4\n8 U 2000 to 2020 count 5\n"
            "8 U 1012 to 1018 count 2\n8 stops\n");
}

TEST(Flow, ContinuesOnAnotherCpu) {
  RecordBuilder first, second;
  first.itrace_thread(10, 7, 8).itrace_start(11, 7, 8, 3, 0x1000);
  first.branch(12, true, 0x1010, 0x2000, true, 4);
  second.itrace_thread(20, 7, 8).branch(21, true, 0x2010, 0x3000, true, 3);
  first.itrace_thread(30, 7, 9).branch(31, true, 0x2010, 0x3000, true, 3);
  EXPECT_EQ(flow_of({first, second}),
            "cpu 0 runs 7/8\n8 starts\n8 U 1000 to 1010 count 4\ncpu 1 runs 7/8\n"
            "8 U 2000 to 2010 count 3\ncpu 0 runs 7/9\n9 U 0? to 2010 count 3\n");
}

TEST(Flow, IsUnknownOnAllCpusAfterALoss) {
  RecordBuilder first, second;
  first.itrace_thread(10, 7, 8).itrace_start(11, 7, 8, 3, 0x1000);
  second.itrace_thread(12, 7, 9).itrace_start(13, 7, 9, 3, 0x1000);
  first.lost(20, 3).branch(21, true, 0x1010, 0x2000, true, 4);
  second.branch(22, true, 0x1010, 0x2000, true, 4).branch(23, true, 0x2010, 0x1000, true, 4);
  EXPECT_EQ(flow_of({first, second}),
            "cpu 0 runs 7/8\n8 starts\ncpu 1 runs 7/9\n9 starts\nloss on 0\ncpu 0 runs 0/0\n"
            "0 U 0? to 1010 count 4\n9 U 1000? to 1010 count 4\n9 U 2000 to 2010 count 4\n");
}

TEST(Flow, CutsAndGapsEndOpenBlocks) {
  RecordBuilder cpu;
  cpu.itrace_thread(10, 7, 8)
      .itrace_start(11, 7, 8, 3, 0x1000)
      .cut(12, true, 14, 2, 0x1004)
      .itrace_gap(13, PITRACE_GAP_EXCEPTION, 0, 0, 5, 0xffffffff81000000)
      .branch(14, false, 0xffffffff81000008, 0x1004, true, 2)
      .cut(15, true, 14 | PITRACE_CUT_RESUMED, 0, 0x1004)
      .itrace_gap(16, PITRACE_GAP_ROOM, 3, 9, 5, 0x1010)
      .branch(17, true, 0x1012, 0x1000, true, 1);
  EXPECT_EQ(flow_of({cpu}),
            "cpu 0 runs 7/8\n8 starts\n8 U 1000 to 1004 count 2\n8 cut 14\n8 gap 3 K\n"
            "8 K ffffffff81000000 to ffffffff81000008 count 2\n8 cut 14 ends\n"
            "8 U 1004 to 0 count 3\n8 gap 7 U\n8 U 1010 to 1012 count 1\n");
}

TEST(Flow, AReusedThreadIdIsAnotherThread) {
  RecordBuilder cpu;
  cpu.itrace_thread(10, 7, 8).itrace_start(11, 7, 8, 3, 0x1000);
  cpu.itrace_thread(12, 5, 5).itrace_thread(13, 6, 8).branch(14, true, 0x1010, 0x2000, true, 4);
  EXPECT_EQ(flow_of({cpu}),
            "cpu 0 runs 7/8\n8 starts\ncpu 0 runs 5/5\ncpu 0 runs 6/8\n"
            "8 U 1000? to 1010 count 4\n");
}

// For random records, every line is a valid arc line.
TEST(Flow, HostileRecordsGiveValidLines) {
  std::mt19937 random(1);
  const auto number = [&](uint32_t below) { return static_cast<uint32_t>(random() % below); };
  constexpr uint32_t majors[] = {0x20, 0x21, 0x21, 0x28, 0x29, 0x2b, 0x2c, 0x2e, 0x2f, 0x2d};
  constexpr uint32_t values[] = {0, 1, 14, 0x20, 0x400000, 0x400001, 0x80000000, 0xffffffff};
  for (int round = 0; round < 40; ++round) {
    RecordBuilder mte, cpu;
    mte.name(1, 0x20, "app").module(1, {0x20, 0, 0x400000, 0x1000, 0, 0}, "/bin/app");
    for (uint64_t time = 2; time < 300; ++time) {
      std::vector<uint32_t> ints(number(9));
      for (uint32_t& value : ints) value = values[number(8)];
      cpu.ints(time, majors[number(10)], values[number(8)], ints);
    }
    TraceBuilder trace;
    trace.section(pi::nrm2::section_mte, {}, mte.bytes());
    trace.section(pi::nrm2::section_trace, {}, cpu.bytes());
    test_support::FakeSymbolizer symbolizer;
    symbolizer.add_symbol("/bin/app", 0, 0x10, "main");
    symbolizer.add_code("/bin/app", 0, {std::byte{0x90}, std::byte{0xc3}});
    post::Options options;
    options.arc = true;
    options.arc_form = {round % 2 != 0, round % 3 == 0, true, true, true, round % 5 == 0, false};
    const auto run = test_support::run_post(trace.bytes(), symbolizer, options);
    ASSERT_TRUE(run.error.empty()) << run.error;
    std::istringstream in(run.arc);
    size_t lines = 0;
    for (std::string text; std::getline(in, text);) {
      post::ArcLine line;
      const auto parsed = arcf::parse_line(text, line);
      ASSERT_NE(parsed, arcf::Parsed::malformed) << text;
      lines += parsed == arcf::Parsed::line;
    }
    EXPECT_GT(lines, 100u);
  }
}

}  // namespace
