// SPDX-License-Identifier: MIT
// Turns perf's records into trace records.
#ifndef PI_PERFUTIL_PERF_CONVERT_H
#define PI_PERFUTIL_PERF_CONVERT_H

#include <bitset>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "perf_stack.h"
#include "proc/namespace_ids.h"
#include "source/user_buffer.h"

namespace pi::perfutil {

// Not thread-safe. Records must come from events opened with perf_events.h's attributes.
class PerfConverter {
 public:
  // proc: where ids in other pid namespaces are looked up.
  PerfConverter(bool anonymous, const std::string& proc)
      : anonymous_(anonymous), namespace_ids_(proc) {}

  // Only records of enabled majors are stored; what the kernel lost is always counted.
  void set_enabled(const std::bitset<256>& enabled) { enabled_ = enabled; }

  // Which stacks samples carry, and of how many frames at most the kernel makes them.
  void set_stacks(const StackChoice& stacks, uint32_t max_frames) {
    stacks_ = stacks;
    max_frames_ = max_frames;
  }
  // Samples of the event with this identifier have the stack of a thread at its switch-out; they
  // are no ticks.
  void add_switch_stacks(uint64_t identifier) { switch_stacks_.insert(identifier); }

  // Converts one record from the ring of ticks or of the side band into that CPU's buffer. A record
  // that is too short for its kind is counted as lost by the source.
  void convert_tick(std::span<const std::byte> record, UserBuffer& trace);
  void convert_side_band(std::span<const std::byte> record, UserBuffer& mte);

  // The time of a record from the ring of ticks; 0 for one that is not converted.
  static uint64_t tick_time(std::span<const std::byte> record);

  // Records that the kernel dropped, from the record of the last call; 0 for most.
  uint64_t lost_in_last() const { return lost_in_last_; }
  uint64_t throttled() const { return throttled_; }
  void reset();

 private:
  void count_lost(std::span<const std::byte> record, UserBuffer& buffer, size_t offset);
  bool sample(std::span<const std::byte> record, UserBuffer& trace);
  bool context_switch(std::span<const std::byte> record, UserBuffer& trace);
  bool mmap2(std::span<const std::byte> record, UserBuffer& mte);
  bool comm(std::span<const std::byte> record, UserBuffer& mte);
  bool fork(std::span<const std::byte> record, UserBuffer& mte);
  bool exit(std::span<const std::byte> record, UserBuffer& mte);
  bool namespaces(std::span<const std::byte> record, UserBuffer& mte);
  void put_word_size(std::span<const std::byte> record, UserBuffer& mte);

  // What perf reports for a task whose ids the kernel has released: see perf_event_pid_type()
  // there.
  static constexpr uint32_t no_id = ~0u;
  struct TaskIds {
    uint32_t pid = no_id, tid = no_id;
  };

  // The switches of one CPU.
  struct CpuState {
    // The stack of the thread that leaves; its sample comes before the record of the switch.
    bool has_stack = false;
    uint32_t stack_tid = 0;
    PerfStack stack;
    static constexpr uint32_t unknown = no_id - 1;  // the id of no thread, and not no_id
    uint32_t next_tid = unknown;                    // of the last switch, as perf reports it
    TaskIds runs;                   // the same with the ids that the thread had; no_id: not known
    std::vector<TaskIds> released;  // preempted here after the kernel had released their ids

    // For use after lost switches.
    void forget_ids() {
      runs = {};
      released.assign(released.size(), TaskIds{});
    }
  };
  void put_dispatch(uint64_t time, TaskIds next, uint32_t state, const Stack& stack, CpuState& cpu,
                    UserBuffer& trace);

  bool anonymous_;
  StackChoice stacks_;
  uint32_t max_frames_ = 0;
  PerfStack stack_;                             // of the current tick
  std::set<uint64_t> switch_stacks_;            // identifiers of events
  std::map<const UserBuffer*, CpuState> cpus_;  // identified by the CPU's trace buffer
  NamespaceIdReader namespace_ids_;
  std::map<uint32_t, std::string> pending_names_;  // names by pid, until the word size is known
  std::bitset<256> enabled_;
  uint64_t lost_in_last_ = 0;
  uint64_t throttled_ = 0;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PERF_CONVERT_H
