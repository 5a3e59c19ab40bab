// SPDX-License-Identifier: MIT
// Writes ticks and runs of threads one by one, in the formats of viewers with an axis of time.
#ifndef POST_TIMED_H
#define POST_TIMED_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/records_by_time.h"
#include "text/sink.h"
#include "text/string_table.h"

namespace post {

// Takes single records, in the order of their time. Errors of the sink are seen by its owner.
class TimedWriter {
 public:
  virtual ~TimedWriter() = default;
  virtual void add(const RecordSum& record, const RecordsByTime& records) = 0;
  virtual void add(const ThreadSwitch& /*event*/) {}
  virtual void add(const ThreadWake& /*event*/) {}
  virtual void add(const UserHook& /*event*/) {}
  // Bytes of a compressed file before that; 0 for others.
  virtual uint64_t text_bytes() const { return 0; }
  // After the last record. remarks: what the trace lacks or cannot contain.
  virtual void finish(const RecordsByTime& records, const std::vector<std::string>& remarks) = 0;
};

// What the formats need of a trace. The names must outlive the writers.
struct TimedFacts {
  const StringTable& names;
  std::string event;    // what a tick counts; empty: time
  uint64_t begin = 0;   // of the trace, nanoseconds of its clock
  uint64_t period = 0;  // nanoseconds, or events, that a tick represents; 0: not known
  std::string scratch;  // a directory for unnamed files
  std::string host, kernel, machine;
};

// The first text of a hook, else its numbers.
std::string hook_name(const pi::RecordView& record);
// "swapper" for the idle task, as the kernel names it.
std::string thread_name(const NamedThread& thread, const StringTable& names);
// The kernel's bits of a thread's state (include/linux/sched.h); 0: it can run.
uint64_t kernel_state(LeaveReason reason);

// The text that perf script prints for samples with call chains; ticks only. Addresses are 0: the
// functions inlined at one address are frames of their own.
std::unique_ptr<TimedWriter> make_perf_script_writer(const TimedFacts& facts, Sink& sink);

// Chrome's JSON ("Trace Event Format"): a track for each CPU with the threads that ran, and ticks
// as instants of their threads, with stack frames. Times are microseconds since the trace's begin.
std::unique_ptr<TimedWriter> make_chrome_writer(const TimedFacts& facts, Sink& sink);

// The Common Trace Format, version 1.8 (diamon.org/ctf/v1.8.3): metadata, and beside it a stream
// for each CPU. Context switches and wake-ups have the names and fields of LTTng's events of the
// kernel, by which Trace Compass knows them; ticks and user hooks are events of their own. Uses an
// unnamed file in the directory for scratch files.
std::unique_ptr<TimedWriter> make_ctf_writer(const TimedFacts& facts, Sink& metadata);

// The Firefox Profiler's processed format, version 60 (src/types/profile.ts of
// github.com/firefox-devtools/profiler), compressed: ticks as samples of their threads, states of
// threads and user hooks as markers. Uses an unnamed file in the directory for scratch files, since
// the format has one thread after the other.
std::unique_ptr<TimedWriter> make_firefox_writer(const TimedFacts& facts, Sink& sink);

// Perfetto's protocol buffers (protos/perfetto/trace of github.com/google/perfetto): context
// switches and wake-ups as ftrace's events, ticks as samples with stacks, user hooks as instants of
// threads.
std::unique_ptr<TimedWriter> make_perfetto_writer(const TimedFacts& facts, Sink& sink);

}  // namespace post

#endif  // POST_TIMED_H
