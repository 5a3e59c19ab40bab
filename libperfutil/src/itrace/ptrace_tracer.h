// SPDX-License-Identifier: MIT
// The thread that traces by ptrace, as its users see it: no call waits for it without limit.
#ifndef PI_PERFUTIL_PTRACE_TRACER_H
#define PI_PERFUTIL_PTRACE_TRACER_H

#include <cstdint>
#include <memory>
#include <thread>

#include <pi/result.h>

#include "ptrace_follower.h"

namespace pi::perfutil {

// One thread of ours traces all of them, as ptrace requires. When this process is killed while it
// steps a thread, that thread dies of SIGTRAP, since the kernel leaves the trap flag set.
class PtraceTracer {
 public:
  // flags: PITRACE_ITRACE_*. Our thread calls put, but not after stop() has returned.
  PtraceTracer(FlowWriter::Put put, uint32_t flags, std::shared_ptr<PtraceCounts> counts);
  ~PtraceTracer() { (void)stop(); }

  // Follows all threads of the process and those that they start. When this returns, they execute
  // no instruction without being stepped. PU_ERROR_ACCESS_DENIED, PU_ERROR_INVALID_PARAMETER (no
  // such process), PU_ERROR_NOT_ENOUGH_MEMORY, PU_ERROR_FACILITY_BUSY (our thread does not answer).
  Status attach(uint32_t pid);
  // Detaches all threads, which then run freely. PU_ERROR_FACILITY_BUSY: tracing has ended, but
  // some did not stop in time; the text names one of them.
  Status stop();
  // The same, without waiting for it; from any thread, our own included.
  void ask_to_stop();
  bool is_stopping() const;

 private:
  struct Shared;

  std::shared_ptr<Shared> shared_;
  std::thread runner_;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PTRACE_TRACER_H
