// SPDX-License-Identifier: MIT
// Trace buffers in this process's memory, with the module's ring format, filled by one thread at a
// time.
#ifndef PI_PERFUTIL_USER_BUFFER_H
#define PI_PERFUTIL_USER_BUFFER_H

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <pi/result.h>
#include <pi/unique_fd.h>
#include <pitrace/encode.h>
#include <pitrace/ring.h>

#include "collector.h"
#include "ring_memory.h"
#include "sampling.h"

namespace pi::perfutil {

// State that all buffers of one trace share.
struct RecordingState {
  int mode = PITRACE_MODE_NORMAL;
  uint64_t section_bytes = 0;  // of buffers that stream
  bool full = false;           // normal mode ends for all buffers when one is full
  bool suspended = false;      // trace records are not even counted
  bool section_ready = false;  // a buffer got a whole section since this was set to false
};

// One stream: one CPU, one kind. Not thread-safe; the owner holds a lock.
//
// A record that is older than the newest record of the stream is stored with the newest's time, so
// that time never runs backwards.
class UserBuffer {
 public:
  // bytes are rounded up to pages.
  static Result<UserBuffer> create(uint64_t bytes, uint32_t cpu, uint32_t kind,
                                   RecordingState* state);

  void put_tprof(uint64_t time, bool user, uint32_t pid, uint32_t tid, uint64_t address,
                 const Stack& stack = {});
  // pid, tid: of the next thread; state and stack: of the previous one.
  void put_dispatch(uint64_t time, uint32_t pid, uint32_t tid, uint32_t state,
                    const Stack& stack = {});
  void put_ints(uint64_t time, uint32_t major, uint32_t minor,
                std::initializer_list<uint32_t> ints);
  void put_name(uint64_t time, uint32_t minor, std::initializer_list<uint32_t> ints,
                std::string_view name);
  // A whole encoded record. Both its time and the argument become the time it is stored with.
  void put_record(uint64_t& time, std::span<const std::byte> record);
  // In a buffer of stacks; frames: return addresses, of which tables have found the first ones.
  void put_user_frames(uint64_t time, uint32_t id, uint32_t flags, std::span<const uint64_t> frames,
                       uint32_t by_table);
  void put_module(uint64_t time, const pitrace_module& module, std::string_view name);
  // Records that the source itself dropped. reason: PITRACE_LOST_*.
  void count_lost(uint32_t reason, uint64_t records);
  void count_lost_by_source(uint64_t records) { count_lost(PITRACE_LOST_SOURCE, records); }

  // Clears contents and counts.
  void reset();

  BufferView unread() const { return RingMemory(memory_).unread(); }
  BufferCopy copy() const { return RingMemory(memory_).copy(); }
  // The reader has taken everything below this position of the stream.
  void consume(uint64_t position);

 private:
  UserBuffer(UniqueMapping memory, RecordingState* state)
      : memory_(std::move(memory)), state_(state) {}
  // Counts the record. Unless it is lost, encode(place, time) writes it to place, size bytes. time
  // becomes the time it is stored with.
  template <class Encode>
  void put(uint64_t& time, uint32_t size, const Encode& encode);
  bool streams() const;

  void populate();

  UniqueMapping memory_;
  uint64_t populated_ = 0;  // bytes of data that have memory
  RecordingState* state_;
  pitrace_ring ring_{};
};

// The buffers of all CPUs seen so far. Addresses of buffers stay valid until destruction.
class BufferSet {
 public:
  BufferSet(uint64_t trace_bytes, uint64_t mte_bytes, int mode = PITRACE_MODE_NORMAL,
            uint64_t section_bytes = 0)
      : bytes_{trace_bytes, mte_bytes},
        state_(std::make_unique<RecordingState>(RecordingState{mode, section_bytes})) {}

  // Allocates the CPU's buffers unless they exist.
  Status add_cpu(uint32_t cpu);
  // The CPU must have been added.
  UserBuffer& at(uint32_t cpu, uint32_t kind) { return cpus_.at(cpu)[kind]; }
  std::vector<uint32_t> cpus() const;
  bool has(uint32_t cpu) const { return cpus_.count(cpu) != 0; }
  void reset(uint32_t kind);
  void set_suspended(bool suspended) { state_->suspended = suspended; }
  bool full() const { return state_->full; }
  // Whether a buffer got a whole section since the last call.
  bool take_section_ready() { return std::exchange(state_->section_ready, false); }
  // Of all buffers except trace buffers that wrap around.
  std::vector<BufferView> unread() const;

 private:
  std::array<uint64_t, PITRACE_BUFFERS> bytes_;
  std::unique_ptr<RecordingState> state_;
  std::map<uint32_t, std::vector<UserBuffer>> cpus_;  // by kind
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_USER_BUFFER_H
