// SPDX-License-Identifier: MIT
// Steps the threads of processes by ptrace and records their flows of user code.
#ifndef PI_PERFUTIL_PTRACE_TRACER_H
#define PI_PERFUTIL_PTRACE_TRACER_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <pi/result.h>

#include "flow_writer.h"
#include "ptrace_thread.h"

namespace pi::perfutil {

// One thread of ours traces all of them, as ptrace requires. When this process is killed while it
// steps a thread, that thread dies of SIGTRAP, since the kernel leaves the trap flag set.
class PtraceTracer {
 public:
  struct Counts {
    std::atomic<uint32_t> threads = 0;   // followed now
    std::atomic<uint32_t> untraced = 0;  // threads that could not be attached
    std::atomic<uint64_t> steps = 0;
    std::atomic<uint64_t> branches = 0;
    std::atomic<uint64_t> gaps = 0;
  };

  // flags: PITRACE_ITRACE_*. Our thread calls put; counts must outlive this object.
  PtraceTracer(FlowWriter::Put put, uint32_t flags, Counts& counts);
  ~PtraceTracer() { stop(); }

  // Follows all threads of the process and those that they start. When this returns, they are being
  // stepped. PU_ERROR_ACCESS_DENIED, PU_ERROR_INVALID_PARAMETER (no such process),
  // PU_ERROR_NOT_ENOUGH_MEMORY.
  Status attach(uint32_t pid);
  // Detaches all threads, which then run freely.
  void stop();
  // The same, without waiting for it; from any thread, our own included.
  void ask_to_stop() { stopping_.store(true, std::memory_order_relaxed); }
  bool is_stopping() const { return stopping_.load(std::memory_order_relaxed); }

 private:
  void run();
  void follow_all();
  void take_request();
  Status attach_here(uint32_t pid);
  bool seize(uint32_t pid, uint32_t tid);
  void begin(PtraceThread& thread);
  pid_t wait(int& status);
  void handle(uint32_t tid, int status);
  void new_thread(uint32_t tid, int status);
  void stopped(PtraceThread& thread, int status);
  void at_event(PtraceThread& thread, int event, int signal);
  void exec(PtraceThread& thread);
  void ended(PtraceThread& thread);
  void resume(PtraceThread& thread, int signal);
  void detach_all();
  void detach(PtraceThread& thread, int status);

  FlowWriter writer_;
  const uint32_t flags_;
  Counts& counts_;
  std::map<uint32_t, PtraceThread> threads_;  // by tid; used by our thread only
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;  // guards request_, answer_ and ended_
  std::condition_variable done_;
  std::optional<uint32_t> request_;  // the process to attach
  std::atomic<bool> has_request_ = false;
  std::optional<Status> answer_;
  bool ended_ = false;
  std::thread runner_;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PTRACE_TRACER_H
