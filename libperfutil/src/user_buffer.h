// SPDX-License-Identifier: MIT
// Linear trace buffers in this process's memory, with the accounting of the module's buffers.
#ifndef PI_PERFUTIL_USER_BUFFER_H
#define PI_PERFUTIL_USER_BUFFER_H

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include <pi/result.h>
#include <pi/unique_fd.h>
#include <pitrace/encode.h>

#include "collector.h"

namespace pi::perfutil {

// Shared by all buffers of one trace: normal mode ends for all when one is full.
struct RecordingState {
  bool full = false;
};

// One stream: one CPU, one kind. Not thread-safe; the owner holds a lock.
//
// A record whose time is earlier than the stream's newest gets the newest's time, so that time
// never runs back. A change of the time's high half is announced by a TIME record that belongs to
// the same reservation as the record after it and is not counted.
class UserBuffer {
 public:
  static Result<UserBuffer> create(uint64_t bytes, RecordingState* state);

  void put_tprof(uint64_t time, bool user, uint32_t pid, uint32_t tid, uint64_t address);
  void put_ints(uint64_t time, uint32_t major, uint32_t minor,
                std::initializer_list<uint32_t> ints);
  void put_name(uint64_t time, uint32_t minor, std::initializer_list<uint32_t> ints,
                std::string_view name);
  void put_module(uint64_t time, const pitrace_module& module, std::string_view name);
  // Records that the source itself dropped.
  void count_lost_by_source(uint64_t records);

  // Forgets contents and counts.
  void reset();

  std::span<const std::byte> records() const { return memory_.bytes().first(committed_); }
  const Counts& counts() const { return counts_; }
  uint64_t last_time() const { return last_time_; }

 private:
  UserBuffer(UniqueMapping memory, RecordingState* state)
      : memory_(std::move(memory)), state_(state) {}
  // Counts the record and returns its place of size bytes, or null when it is lost. time becomes
  // the time it is stored with.
  std::byte* reserve(uint64_t& time, uint32_t size);
  bool count_lost(uint32_t reason);

  UniqueMapping memory_;
  RecordingState* state_;
  size_t committed_ = 0;
  Counts counts_;
  uint64_t last_time_ = 0;
};

// The buffers of all CPUs seen so far. Addresses of buffers stay valid until destruction.
class BufferSet {
 public:
  BufferSet(uint64_t trace_bytes, uint64_t mte_bytes)
      : bytes_{trace_bytes, mte_bytes}, state_(std::make_unique<RecordingState>()) {}

  // Allocates what the CPU lacks.
  Status add_cpu(uint32_t cpu);
  // The CPU must have been added.
  UserBuffer& at(uint32_t cpu, uint32_t kind) { return cpus_.at(cpu)[kind]; }
  std::vector<uint32_t> cpus() const;
  void reset();
  bool full() const { return state_->full; }
  std::vector<BufferView> views() const;

 private:
  std::array<uint64_t, PITRACE_BUFFERS> bytes_;
  std::unique_ptr<RecordingState> state_;
  std::map<uint32_t, std::vector<UserBuffer>> cpus_;  // by kind
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_USER_BUFFER_H
