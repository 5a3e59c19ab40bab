// SPDX-License-Identifier: MIT
// Steps the threads of processes by ptrace and records their flows: runs in the tracing thread.
#ifndef PI_PERFUTIL_PTRACE_FOLLOWER_H
#define PI_PERFUTIL_PTRACE_FOLLOWER_H

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

#include <pi/result.h>

#include "flow_writer.h"
#include "ptrace_thread.h"

namespace pi::perfutil {

struct PtraceCounts {
  std::atomic<uint32_t> threads = 0;   // followed now
  std::atomic<uint32_t> untraced = 0;  // threads that could not be attached
  std::atomic<uint64_t> steps = 0;
  std::atomic<uint64_t> branches = 0;
  std::atomic<uint64_t> gaps = 0;
};

// A thread that did not stop in time, so that only the end of the tracing thread detaches it.
struct LeftThread {
  FlowThread id;
  bool has_trap_flag;  // SIGTRAP will end it when it continues
};

// All functions must be called by the same thread, as ptrace requires. None waits for a followed
// thread without limit: such a thread can wait in the kernel as long as its program likes.
class PtraceFollower {
 public:
  // flags: PITRACE_ITRACE_*.
  PtraceFollower(FlowWriter::Put put, uint32_t flags, PtraceCounts& counts);

  // Follows all threads of the process and those that they start. They execute no further
  // instruction without being stepped. Errors as PtraceTracer::attach().
  Status attach(uint32_t pid);
  // Handles the next stop of a thread, if there is one soon.
  void follow();
  // Detaches all threads, which then run freely, but those that it returns.
  std::vector<LeftThread> detach_all();

 private:
  bool seize(uint32_t pid, uint32_t tid);
  void wait_for_begin(std::vector<uint32_t> tids);
  void handle(uint32_t tid, int status);
  void new_thread(uint32_t tid, int status);
  void stopped(PtraceThread& thread, int status);
  bool trapped(PtraceThread& thread);
  void at_event(PtraceThread& thread, int event, int signal);
  void exec(PtraceThread& thread);
  void ended(PtraceThread& thread);
  void resume(PtraceThread& thread, int signal);
  void drop_ended_threads();
  void detach(PtraceThread& thread, int status);

  FlowWriter writer_;
  const uint32_t flags_;
  PtraceCounts& counts_;
  std::map<uint32_t, PtraceThread> threads_;  // by tid
  // The rest of the time for which attach() waits until threads are being stepped.
  std::chrono::steady_clock::duration begin_limit_ = std::chrono::milliseconds(500);
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PTRACE_FOLLOWER_H
