// SPDX-License-Identifier: MIT
// Has the application resolve the user stacks of ticks, from the registers and stack bytes that the
// kernel has copied, and replaces them by its frames.
#ifndef PI_PERFUTIL_STACK_UNWINDING_H
#define PI_PERFUTIL_STACK_UNWINDING_H

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "source/sampling.h"

namespace pi::perfutil {

// Behind the call chain of a tick whose user entries may have been replaced.
struct UnwoundTail {
  uint32_t resolved;  // 1: the user's entries are those of the application
  uint32_t flags;     // then PITRACE_STACK_USER_*, and the number of frames found by tables << 24
};

// Not thread-safe.
class StackUnwinding {
 public:
  struct Limits {
    // Of ticks that wait: for all CPUs, and more on a machine with many.
    size_t bytes = 128 << 20, bytes_a_cpu = 8 << 20;
    std::chrono::nanoseconds age = std::chrono::seconds(10);  // of the oldest of them
  };
  StackUnwinding() : StackUnwinding(Limits{}) {}
  explicit StackUnwinding(const Limits& limits) : limits_(limits) {}

  void set(const StackCopies& copies) { copies_ = copies; }
  uint32_t bytes() const { return copies_.bytes; }
  bool is_active() const { return copies_.bytes != 0; }
  // The trace is turned on.
  void begin();
  void change(const pi_process_change& change);
  std::vector<std::string> notes() const;

  // Keeps a record from a ring of ticks. fixed: offset of the call chain, if it is a tick with
  // copies; 0 for other records.
  void hold(uint32_t cpu, uint64_t time, std::span<const std::byte> record, size_t fixed);

  // Passes the records up to time until, whose stacks are resolved, in the order of their times.
  // Returns the time of the oldest that must wait, or UINT64_MAX. finish: none may wait for longer
  // than the limit of the age.
  using Put = std::function<void(uint32_t cpu, uint64_t time, std::span<const std::byte> record)>;
  uint64_t advance(uint64_t until, bool finish, const Put& put);

 private:
  struct Held {
    uint64_t time;
    size_t fixed;
    std::vector<std::byte> record;
  };
  using Queue = std::deque<Held>;

  Queue* oldest(uint64_t until, uint32_t& cpu);
  // False: the application is not ready.
  bool resolve(const Held& held, bool last);
  bool call_resolver(const Held& held, pi_stack_copy& copy, bool last);
  void keep_kernels_frames(const Held& held, size_t entries);

  const Limits limits_;
  StackCopies copies_;
  std::map<uint32_t, Queue> queues_;  // by CPU
  size_t held_bytes_ = 0;
  std::vector<std::byte> result_;  // the record that resolve() makes
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_STACK_UNWINDING_H
