// SPDX-License-Identifier: MIT
// The source that needs no module: perf events of every CPU, and /proc for what runs already.
#ifndef PI_PERFUTIL_PERF_COLLECTOR_H
#define PI_PERFUTIL_PERF_COLLECTOR_H

#include <map>
#include <memory>
#include <mutex>

#include "events/perf_events.h"
#include "hooks/hook_queue.h"
#include "hooks/hook_server.h"
#include "itrace/ptrace_itrace.h"
#include "perf_convert.h"
#include "perf_copy.h"
#include "perf_reader.h"
#include "perf_scope.h"
#include "proc/proc_snapshot.h"
#include "source/collector.h"
#include "source/config.h"
#include "source/stack_unwinding.h"
#include "source/user_buffer.h"
#include "system/process_fd.h"

namespace pi::perfutil {

// The reader's thread runs between on() and off(); mutex_ guards the data that it shares with the
// callers.
class PerfCollector final : public Collector {
 public:
  // Errors as TraceInit() lists them.
  static Result<std::unique_ptr<Collector>> create(const TraceConfig& config);
  ~PerfCollector() override;

  int source() const override { return PI_SOURCE_PERF; }
  Status enable(uint32_t major) override;
  Status disable(uint32_t major) override;
  Status set_rate(uint32_t rate) override;
  Status set_event(const TickEvent& event) override;
  Status set_stacks(const StackChoice& stacks) override;
  Status set_stack_resolver(const StackCopies& copies) override;
  Status on() override;
  Status off() override;
  Result<CollectorStatus> status() override;
  Status suspend() override;
  Status resume() override;
  Status discard() override;
  std::vector<BufferView> buffers() override;
  void copy_trace(const std::function<void(BufferCopy)>& take) override;
  int ready_fd() override { return section_event_.get(); }
  std::vector<BufferView> unread() override;
  void consumed(const BufferView& view, size_t bytes) override;
  std::vector<std::string> cannot_see() override;
  std::vector<std::string> notes() override;
  std::string frame_names(uint32_t& known) override;
  void forget_frame_names() override;
  ITrace& itrace() override { return itrace_; }

 private:
  PerfCollector(const TraceConfig& config, const PerfScope& scope);

  Status open_everything();
  Status open_cpu(uint32_t cpu);
  std::vector<int> targets() const;
  std::vector<uint32_t> online_cpus() const;
  // The error if that list is empty; 0: the list could be read.
  Error no_cpu_list(int error) const;
  Status begin_recording(std::unique_lock<std::mutex>& lock);
  SamplePlan plan() const;
  Error process_gone() const;
  // Enables the events whose majors are enabled in the ring of ticks, and disables the others;
  // paused disables all.
  Status run_samples(CpuEvents& events, bool paused);
  Status run_samples(bool paused);
  // Releases the lock between processes, so that a stream's reader can free space in the buffers.
  void put_snapshot(uint64_t time, std::unique_lock<std::mutex>& lock);
  Status apply_enabled(const std::bitset<256>& enabled, std::unique_lock<std::mutex>& lock);
  void serve_hooks();
  // With mutex_ held:
  void publish_hooks();
  // Takes ITrace's records by ptrace, as many as there is space for.
  void take_flows(bool all);
  // Takes all hooks that processes have begun to write. No major may be published.
  void settle_hooks();
  UserBuffer& trace_buffer_of(uint32_t cpu);
  void read_rings(CpuEvents& events);
  // Has the copy in a sample resolved, or keeps the record's place in time. queue: see below.
  void hold_record(uint32_t queue, std::span<const std::byte> record);
  // What a record of the side band says about a process's code.
  void tell_resolver(std::span<const std::byte> record);
  void tell_resolver(const ProcessFacts& facts, uint64_t time);
  // Has stacks of ticks up to time until resolved; the time up to which all are.
  uint64_t resolve_stacks(uint64_t until);
  void put_ticks(CpuEvents& events, uint64_t until);
  void put_in_order(uint64_t horizon, uint64_t ticks_until);
  uint64_t read_all();
  void drain_all();
  void drain_to_the_last_tick();
  void wake_section_reader();
  void close_cpu(CpuEvents& events);
  void follow_cpus();
  // Runs work with mutex_ held, for the threads of the reader and of the hook server; stops
  // bad_alloc.
  void guarded(void (PerfCollector::*work)());

  const TraceConfig config_;
  const PerfScope scope_;
  std::mutex mutex_;
  EventFeatures features_;
  BufferSet buffers_;
  PerfConverter converter_;
  std::map<uint32_t, CpuEvents> events_;  // by CPU; empty while off
  CollectorStatus status_;
  std::vector<std::string> notes_;
  uint32_t unreadable_processes_ = 0;
  IncompleteMaps incomplete_;
  ProcessFd section_event_;             // readable when a buffer holds a section
  std::map<uint32_t, HeldTicks> held_;  // by CPU; ticks that were read and not stored yet
  StackUnwinding unwinding_;
  bool unwound_ = false;             // since on(): ticks pass through it
  uint64_t switch_stacks_lost_ = 0;  // since on()
  bool switch_stacks_refused_ = false;
  HookQueue hook_queue_;
  uint32_t configured_cpus_ = 1;  // read once a second: a dozen of system calls
  std::string hook_note_;         // why user hooks are not recorded, or empty
  PerfReader reader_;
  PtraceITrace itrace_;
  bool flows_ = false;                 // records of ITrace are in the trace
  std::unique_ptr<HookServer> hooks_;  // last: its thread calls us
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PERF_COLLECTOR_H
