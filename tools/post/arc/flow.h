// SPDX-License-Identifier: MIT
// Converts ITrace's records to the blocks that each thread executed.
#ifndef POST_FLOW_H
#define POST_FLOW_H

#include <pi/decode_itrace.h>

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "read/stream.h"

namespace post {

// A traced thread, or, with tid 0, the unknown thread that ran on a CPU.
struct FlowThread {
  uint32_t pid = 0;
  uint32_t tid = 0;
  uint32_t number = 0;  // from 0, in the order in which they appear
  uint32_t cpu = 0;     // of its last record
  uint64_t start = 0;   // of the block that it executes, if placed
  bool placed = false;
  uint32_t losses = 0;  // Flow's, when it was placed
};

enum class BlockEnd : uint8_t {
  branch,  // at end, to where to says
  cut,     // before end, by an exception or interrupt
  gap,     // at an unknown address
  stop,    // before end
};

// Instructions that a thread executed one after the other.
struct FlowBlock {
  FlowThread* thread;
  uint32_t cpu;
  bool user;    // ring
  bool placed;  // start is known
  BlockEnd how;
  uint32_t count;  // instructions, as recorded; 0: not recorded
  uint64_t start;
  uint64_t end;
  uint64_t to;
};

// Receives the flow, in the order of time within each CPU.
class FlowSink {
 public:
  virtual ~FlowSink() = default;
  // Another thread's records follow on that CPU.
  virtual void thread(uint32_t cpu, FlowThread& thread) = 0;
  virtual void block(const FlowBlock& block) = 0;
  virtual void cut(uint32_t cpu, FlowThread& thread, const pi::ItraceCut& cut) = 0;
  // user: where it begins.
  virtual void gap(uint32_t cpu, FlowThread& thread, const pi::ItraceGap& gap, bool user) = 0;
  virtual void start(FlowThread& thread, const pi::ItraceStart& start) = 0;
  virtual void stop(FlowThread& thread, const pi::ItraceStop& stop) = 0;
  // Records of that CPU are missing: the flow after them is not connected to the flow before.
  virtual void loss(uint32_t cpu) = 0;
};

class Flow {
 public:
  // The sink must outlive this.
  explicit Flow(FlowSink& sink) : sink_(sink) {}

  // Takes a record for which pi::is_itrace() is true; false when it is invalid.
  bool add(const Stream& stream) {
    const pi::RecordView& record = stream.record();
    Cpu& cpu = cpu_of(stream);
    if (record.major() > PITRACE_MAJOR_BRANCH_USER) return add_other(record, stream.cpu(), cpu);
    pi::ItraceBranch branch;
    if (!pi::decode_branch(record, branch)) return false;
    FlowThread& thread = current(stream.cpu(), cpu);
    sink_.block({&thread, stream.cpu(), branch.user, is_placed(thread), BlockEnd::branch,
                 branch.count, thread.start, branch.from, branch.to});
    place(thread, stream.cpu(), branch.to);
    return true;
  }

 private:
  struct Cpu {
    FlowThread* thread = nullptr;
    FlowThread no_thread;  // tid 0
    uint64_t breaks = 0;
    bool known = false;
  };

  Cpu& cpu_of(const Stream& stream) {
    if (stream.cpu() >= cpus_.size() || !cpus_[stream.cpu()].known) [[unlikely]]
      begin_cpu(stream);
    Cpu& cpu = cpus_[stream.cpu()];
    if (stream.breaks() != cpu.breaks) [[unlikely]]
      take_loss(stream, cpu);
    return cpu;
  }
  FlowThread& current(uint32_t number, Cpu& cpu) {
    return cpu.thread ? *cpu.thread : begin_unknown_thread(number, cpu);
  }
  bool is_placed(const FlowThread& thread) const {
    return thread.placed && thread.losses == losses_;
  }
  void place(FlowThread& thread, uint32_t cpu, uint64_t address) {
    thread.start = address;
    thread.placed = true;
    thread.losses = losses_;
    thread.cpu = cpu;
  }

  void begin_cpu(const Stream& stream);
  FlowThread& begin_unknown_thread(uint32_t number, Cpu& cpu);
  void take_loss(const Stream& stream, Cpu& cpu);
  FlowThread& thread_of(uint32_t tid, uint32_t pid);
  bool add_other(const pi::RecordView& record, uint32_t number, Cpu& cpu);
  void take_cut(const pi::ItraceCut& cut, uint32_t number, FlowThread& thread);
  void take_gap(const pi::ItraceGap& gap, uint32_t number, FlowThread& thread);
  void take_thread(const pi::ItraceThread& entry, uint32_t number, Cpu& cpu);
  void take_start(const pi::ItraceStart& start, uint32_t number);
  void take_stop(const pi::ItraceStop& stop, uint32_t number, Cpu& cpu);

  FlowSink& sink_;
  std::deque<Cpu> cpus_;                              // by number; references stay valid
  std::unordered_map<uint32_t, FlowThread> threads_;  // by tid; references stay valid
  uint32_t thread_count_ = 0;
  uint32_t losses_ = 0;
};

}  // namespace post

#endif  // POST_FLOW_H
