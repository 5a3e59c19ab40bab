// SPDX-License-Identifier: MIT
// Turns perf's records into trace records.
#ifndef PI_PERFUTIL_PERF_CONVERT_H
#define PI_PERFUTIL_PERF_CONVERT_H

#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "perf_stack.h"
#include "proc/namespace_ids.h"
#include "source/user_buffer.h"

namespace pi::perfutil {

// Not thread-safe. Records must come from events opened with perf_events.h's attributes.
class PerfConverter {
 public:
  // proc: where ids in other pid namespaces and control groups are looked up.
  PerfConverter(bool anonymous, const std::string& proc)
      : anonymous_(anonymous), proc_(proc), namespace_ids_(proc) {}

  // Only records of enabled majors are stored; what the kernel lost is always counted.
  void set_enabled(const std::bitset<256>& enabled) { enabled_ = enabled; }

  // Which stacks samples carry, and of how many frames at most the kernel makes them.
  void set_stacks(const StackChoice& stacks, uint32_t max_frames) {
    stacks_ = stacks;
    max_frames_ = max_frames;
  }
  // Samples come from StackUnwinding, each with an UnwoundTail.
  void set_unwound(bool unwound) { unwound_ = unwound; }
  // Samples of the event with this identifier have the stack of a thread at its switch-out; they
  // are no ticks.
  void add_switch_stacks(uint64_t identifier) { switch_stacks_.insert(identifier); }

  // Converts one record from the ring of ticks or of the side band into that CPU's buffer. A record
  // that is too short for its kind is counted as lost by the source.
  void convert_tick(std::span<const std::byte> record, UserBuffer& trace);
  // A switch as the kernel's tracepoint describes it; state: PITRACE_STATE_* of prev. The stack is
  // that of the sample before it, see add_switch_stacks(). If the switch before on this CPU was not
  // to prev, a record says that prev runs: the kernel does not report every switch.
  struct Switch {
    uint64_t time;
    uint32_t prev_pid, prev_tid, next_pid, next_tid, state;
  };
  void put_switch(const Switch& change, UserBuffer& trace);
  // Records of this CPU are missing: put_switch() does not know what runs.
  void forget_running(UserBuffer& trace) { switch_outs_[&trace].runs = SwitchOut::unknown; }
  void convert_side_band(std::span<const std::byte> record, UserBuffer& mte);

  // Whether a record from a ring of ticks or of stacks at switches is a sample.
  static bool is_sample(std::span<const std::byte> record);
  // How many records the kernel has dropped, if that is what the record says.
  static uint64_t lost_in(std::span<const std::byte> record);
  // Offset of the call chain in a sample.
  static const size_t chain_offset;
  // What a record of the side band says about executable memory; its path is in path.
  static std::optional<pi_process_change> process_change(std::span<const std::byte> record,
                                                         std::string& path);

  // The time of a record from the ring of ticks; 0 for one that is not converted.
  static uint64_t tick_time(std::span<const std::byte> record);

  // Records that the kernel dropped, from the record of the last call; 0 for most.
  uint64_t lost_in_last() const { return lost_in_last_; }
  uint64_t throttled() const { return throttled_; }
  void reset();

 private:
  void count_lost(std::span<const std::byte> record, UserBuffer& buffer);
  bool sample(std::span<const std::byte> record, UserBuffer& trace);
  UnwoundTail tail_of(std::span<const std::byte> record, std::span<const std::byte> chain) const;
  bool context_switch(std::span<const std::byte> record, UserBuffer& trace);
  bool mmap2(std::span<const std::byte> record, UserBuffer& mte);
  bool comm(std::span<const std::byte> record, UserBuffer& mte);
  bool fork(std::span<const std::byte> record, UserBuffer& mte);
  bool exit(std::span<const std::byte> record, UserBuffer& mte);
  bool namespaces(std::span<const std::byte> record, UserBuffer& mte);
  void put_word_size(std::span<const std::byte> record, UserBuffer& mte);

  // The switch-out of one CPU. The sample with the stack comes before the record of the switch.
  struct SwitchOut {
    bool known = false;
    uint32_t tid = 0;
    PerfStack stack;
    static constexpr uint32_t unknown = ~1u;  // no id, nor perf's ~0 for a thread without one
    uint32_t runs = unknown;                  // tid of the thread that was dispatched last
  };

  bool anonymous_;
  const std::string proc_;
  StackChoice stacks_;
  uint32_t max_frames_ = 0;
  bool unwound_ = false;
  PerfStack stack_;                                     // of the current tick
  std::set<uint64_t> switch_stacks_;                    // identifiers of events
  std::map<const UserBuffer*, SwitchOut> switch_outs_;  // by CPU, identified by its trace buffer
  NamespaceIdReader namespace_ids_;
  std::map<uint32_t, std::string> pending_names_;  // names by pid, until the word size is known
  std::bitset<256> enabled_;
  uint64_t lost_in_last_ = 0;
  uint64_t throttled_ = 0;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PERF_CONVERT_H
