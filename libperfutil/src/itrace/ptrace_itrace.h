// SPDX-License-Identifier: MIT
// ITrace without the module: by ptrace, for the user code of processes that are enabled one by one.
#ifndef PI_PERFUTIL_PTRACE_ITRACE_H
#define PI_PERFUTIL_PTRACE_ITRACE_H

#include <bitset>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hooks/hook_area.h"
#include "itrace.h"
#include "ptrace_tracer.h"
#include "system/process_fd.h"

namespace pi::perfutil {

// Holds the tracer's records until the collector takes them. info() and the functions that the
// collector calls may run at the same time as the others.
class PtraceITrace final : public ITrace {
 public:
  // waits: when many bytes of records are held, the tracer waits, and with it the traced threads.
  explicit PtraceITrace(bool waits);

  Status install(const pitrace_itrace& setup) override;
  Status remove() override;
  Status enable(uint32_t first, uint32_t last) override;
  Status disable() override;
  Status on() override;
  Status off() override;
  Result<pitrace_itrace_info> info() override;

  // Readable while many bytes of records are held.
  int ready_fd() const { return ready_.get(); }
  // Moves records of these majors to the end of the batch, as records of this CPU: at most room
  // bytes.
  void take(const std::bitset<256>& majors, uint32_t cpu, uint64_t room, HookBatch& batch);
  // The trace buffer is full: ends the tracing.
  void end();
  bool is_installed();
  // About threads that did not stop in time when ITrace ended; empty without them.
  std::string note();

 private:
  void put(uint64_t time, std::span<const std::byte> record);
  Status stop_tracer();

  const bool waits_;
  ProcessFd ready_;
  std::mutex control_mutex_;  // guards installed_, setup_, pids_, counts_ and changes of tracer_
  bool installed_ = false;
  pitrace_itrace setup_{};
  std::vector<uint32_t> pids_;
  std::shared_ptr<PtraceCounts> counts_ = std::make_shared<PtraceCounts>();
  std::mutex queue_mutex_;  // guards the members below
  std::condition_variable taken_;
  HookBatch queue_;
  size_t first_ = 0;  // index of the first record that is not taken
  std::unique_ptr<PtraceTracer> tracer_;
  std::string note_;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PTRACE_ITRACE_H
