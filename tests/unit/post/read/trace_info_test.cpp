// SPDX-License-Identifier: MIT
// The text of the info and build-id sections.
#include <gtest/gtest.h>

#include "read/trace_info.h"

namespace {

using post::parse_build_ids;
using post::parse_frame_names;
using post::parse_info;
using post::TraceInfo;

TEST(TraceInfo, ParsesEveryKey) {
  TraceInfo info;
  parse_info(
      "source=perf\nscope=process\npid=4711\ncannot_see=a=b\ncannot_see=c\nnote=n\nkernel=6.1\n"
      "host=h\nmachine=x86_64\nplatform=p q\nended=off\ncpu_hz=3000000000\nrate=1000\n"
      "tick_ns=1000000\ntick=event\nevent=page-faults\nperiod=5\nstacks=both\nstack_depth=64\n"
      "kallsyms=hidden\nthrottled=3\nmissed.perf_event_mmap=2\n"
      "count.3.trace.produced=10\ncount.3.trace.written=4\ncount.3.trace.full=1\n"
      "count.3.trace.stopped=2\ncount.3.trace.too_long=3\ncount.3.mte.source=9",
      info);
  EXPECT_EQ(info.source, "perf");
  EXPECT_EQ(info.scope, "process");
  EXPECT_EQ(info.pid, 4711u);
  EXPECT_EQ(info.cannot_see, (std::vector<std::string>{"a=b", "c"}));
  EXPECT_EQ(info.notes, (std::vector<std::string>{"n"}));
  EXPECT_EQ(info.platform, "p q");
  EXPECT_EQ(info.cpu_hz, 3000000000u);
  EXPECT_EQ(info.rate, 1000u);
  EXPECT_EQ(info.tick_ns, 1000000u);
  EXPECT_EQ(info.tick, "event");
  EXPECT_EQ(info.event, "page-faults");
  EXPECT_EQ(info.period, 5u);
  EXPECT_EQ(info.stacks, "both");
  EXPECT_EQ(info.stack_depth, 64u);
  EXPECT_EQ(info.kallsyms, "hidden");
  EXPECT_EQ(info.throttled, 3u);
  ASSERT_EQ(info.missed.size(), 1u);
  EXPECT_EQ(info.missed[0], (std::pair<std::string, uint64_t>{"perf_event_mmap", 2}));
  const post::StreamCounts& trace = info.counts.at({3, false});
  EXPECT_EQ(trace.produced, 10u);
  EXPECT_EQ(trace.written, 4u);
  EXPECT_EQ(trace.lost, (std::array<uint64_t, 4>{1, 2, 3, 0}));
  EXPECT_EQ(trace.lost_sum(), 6u);
  EXPECT_EQ(info.counts.at({3, true}).lost[PITRACE_LOST_SOURCE], 9u);
}

TEST(TraceInfo, AHookWithZeroMissesIsKept) {
  TraceInfo info;
  parse_info("missed.perf_event_mmap=0\nmissed.task_rename=2\n", info);
  EXPECT_EQ(info.missed, (std::vector<std::pair<std::string, uint64_t>>{{"perf_event_mmap", 0},
                                                                        {"task_rename", 2}}));
}

TEST(TraceInfo, IgnoresInvalidLines) {
  TraceInfo info;
  parse_info(
      "no equals sign\n=x\nunknown=1\nrate=fast\ncount.=1\ncount.x.trace.written=1\n"
      "count.1.other.written=1\ncount.99999999.trace.written=1\ncount.1.trace.written=-1\n\n",
      info);
  EXPECT_EQ(info.rate, 0u);
  EXPECT_TRUE(info.counts.empty());
}

TEST(TraceInfo, MakesTextsPrintable) {
  TraceInfo info;
  parse_info("note=a\x1b[31m", info);
  EXPECT_EQ(info.notes.at(0), "a\\x1b[31m");
}

TEST(BuildIds, DistinguishesMissingFromUnknown) {
  std::vector<post::BuildId> ids;
  parse_build_ids("0123abcdef /bin/a file\n- /bin/b\n? /bin/c\nXYZ /bin/d\n0123 \nnothing\n", ids);
  ASSERT_EQ(ids.size(), 3u);
  EXPECT_EQ(ids[0].path, "/bin/a file");
  EXPECT_EQ(ids[0].id, "0123abcdef");
  EXPECT_EQ(ids[1].id, "");
  EXPECT_EQ(ids[2].path, "/bin/c");
  EXPECT_EQ(ids[2].id, "?");
}

TEST(FrameNames, MalformedLinesAreIgnoredAndTheLastNameOfANumberCounts) {
  post::FrameNames names;
  parse_frame_names("1 a.b()V\n2 x\n0 zero\n-1 y\nz\n4294967296 big\n7\n\n2 c d\n", names);
  EXPECT_EQ(names, (post::FrameNames{{1, "a.b()V"}, {2, "c d"}, {7, ""}}));
}

}  // namespace
