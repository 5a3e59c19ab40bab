// SPDX-License-Identifier: MIT
// Builds recordings of perf with samples of the scheduler's tracepoints.
#ifndef PI_TESTS_PERF_SCHED_DATA_H
#define PI_TESTS_PERF_SCHED_DATA_H

#include "perf_data.h"

namespace pi::test {

// What perf copies from tracefs: the formats of tracepoints of the scheduler.
inline std::string tracing_data() {
  std::string data(
      "\x17\x08\x44tracing"
      "0.6\0"
      "\0\x08\0\x10\0\0",
      20);
  const auto block = [&](std::string_view text) {
    append_number(data, uint64_t{text.size()});
    data += text;
  };
  for (const char* head : {"header_page", "header_event"}) {
    data += head;
    data += '\0';
    block("anything");
  }
  append_number(data, uint32_t{1});
  block("name: function\n");
  append_number(data, uint32_t{1});
  data += "sched";
  data += '\0';
  append_number(data, uint32_t{4});
  block(
      "name: sched_switch\nID: 1\nformat:\n"
      "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\n"
      "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
      "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
      "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
      "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n");
  for (const char* name : {"sched_waking", "sched_wakeup", "sched_wakeup_new"})
    block("name: " + std::string(name) +
          "\nID: 2\nformat:\n"
          "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\n"
          "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
          "\tfield:int target_cpu;\toffset:36;\tsize:4;\tsigned:1;\n");
  return data;
}

// An event of all threads of each CPU.
inline perf_event_attr tracepoint_attr(uint64_t sample_type) {
  perf_event_attr attr = recorded_attr(1, sample_type, 1);
  attr.type = PERF_TYPE_TRACEPOINT;
  return attr;
}

constexpr uint64_t tracepoint_sample = usual_sample | PERF_SAMPLE_RAW;

// A sample of sched:sched_switch; pid: of prev.
inline ByteVector switch_sample(uint64_t time, uint32_t pid, uint32_t prev, uint64_t state,
                                uint32_t next, uint64_t id, bool chain = false) {
  PerfRecord record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
  record.u64(id).u64(0xffffffff81000010).u32(pid).u32(prev).u64(time).u32(0).u32(0);
  if (chain) record.u64(2).u64(static_cast<uint64_t>(PERF_CONTEXT_KERNEL)).u64(0xffffffff81000010);
  record.u32(68).u64(0).u64(0).u64(0).u32(prev).u32(120).u64(state).u64(0).u64(0).u32(next);
  return record.u32(120).u32(0).end();
}

inline ByteVector waking_sample(uint64_t time, uint8_t flags, uint32_t tid, uint32_t cpu,
                                uint64_t id = 9) {
  PerfRecord record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
  record.u64(id).u64(0xffffffff81000010).u32(5).u32(6).u64(time).u32(0).u32(0);
  record.u32(44).u32(uint32_t{flags} << 16).u32(0).u64(0).u64(0).u32(tid).u32(120).u32(1);
  return record.u32(cpu).u32(0).end();
}

inline PerfData scheduler_data(uint64_t more = 0) {
  PerfData data;
  data.event(recorded_attr(PERF_COUNT_SW_CPU_CLOCK, usual_sample | PERF_SAMPLE_RAW | more, 1000),
             {some_event})
      .event(tracepoint_attr(tracepoint_sample | more), {8})
      .event(tracepoint_attr(tracepoint_sample | more), {9})
      .names({"clock", "sched:sched_switch", "sched:sched_waking"})
      .feature(1, tracing_data());
  for (const uint32_t tid : {5u, 6u, 7u}) data.record(perf_comm(5, tid, "prog", false, 0));
  return data;
}

// thread: the first one that was named to perf; ~0: all of some CPUs.
inline ByteVector thread_map(uint64_t thread) {
  return PerfRecord(73).u64(1).u64(thread).u64(0).u64(0).end();
}

}  // namespace pi::test

#endif  // PI_TESTS_PERF_SCHED_DATA_H
