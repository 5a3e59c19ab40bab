// SPDX-License-Identifier: MIT
// ITrace without the module: user code of processes that are enabled one by one, by ptrace.
#ifndef PI_PERFUTIL_PTRACE_ITRACE_H
#define PI_PERFUTIL_PTRACE_ITRACE_H

#include <bitset>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "hooks/hook_area.h"
#include "itrace.h"
#include "ptrace_tracer.h"
#include "system/process_fd.h"

namespace pi::perfutil {

// The tracer's records wait here until the collector takes them. info() and what the collector
// calls are safe beside the others.
class PtraceITrace final : public ITrace {
 public:
  // waits: when much waits to be taken, the tracer waits, too, and with it the traced threads.
  explicit PtraceITrace(bool waits);

  Status install(const pitrace_itrace& setup) override;
  Status remove() override;
  Status enable(uint32_t first, uint32_t last) override;
  Status disable() override;
  Status on() override;
  Status off() override;
  Result<pitrace_itrace_info> info() override;

  // Readable while there is much to take.
  int ready_fd() const { return ready_.get(); }
  // Moves records of these majors to the end of the batch, as the given CPU's: at most so many
  // bytes.
  void take(const std::bitset<256>& majors, uint32_t cpu, uint64_t room, HookBatch& batch);
  // The buffer that they go to is full: there is no point in going on.
  void end();
  bool is_installed();

 private:
  void put(uint64_t time, std::span<const std::byte> record);

  const bool waits_;
  ProcessFd ready_;
  std::mutex control_mutex_;  // guards what only the caller's side changes
  bool installed_ = false;
  pitrace_itrace setup_{};
  std::vector<uint32_t> pids_;
  PtraceTracer::Counts counts_;
  std::mutex queue_mutex_;
  std::condition_variable taken_;
  HookBatch queue_;
  size_t first_ = 0;  // of the queue's records that are not taken
  std::unique_ptr<PtraceTracer> tracer_;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PTRACE_ITRACE_H
