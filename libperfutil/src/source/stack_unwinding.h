// SPDX-License-Identifier: MIT
// Has the application find the frames of user stacks, from the registers and stack bytes that the
// source has copied.
#ifndef PI_PERFUTIL_STACK_UNWINDING_H
#define PI_PERFUTIL_STACK_UNWINDING_H

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sampling.h"

namespace pi::perfutil {

struct ResolvedStack {
  std::vector<uint64_t> frames;  // return addresses
  uint32_t by_table = 0;         // the innermost ones
  uint32_t flags = 0;            // PITRACE_STACK_USER_*
};

// What waits for its frames, or for its place in the order of time.
struct HeldStack {
  uint64_t time = 0;
  bool has_copy = false;          // otherwise it only keeps its place in the order of time
  pi_stack_copy copy{};           // without the bytes
  std::vector<std::byte> stack;   // until it is resolved
  size_t interrupted = 0;         // so many bytes at its end are of an interrupted stack
  std::vector<std::byte> record;  // of the source; it belongs to
  uint32_t id = 0;                // of the source
  std::optional<ResolvedStack> resolved;

  bool is_done() const { return !has_copy || resolved; }
  size_t size() const {
    return sizeof *this + stack.size() + record.size() +
           (resolved ? resolved->frames.size() * sizeof(uint64_t) : 0);
  }
};

// Stacks are tried in the order of their times, but one for which the application is not ready
// keeps no later one waiting: only their records are passed on in that order. Not thread-safe.
class StackUnwinding {
 public:
  struct Limits {
    // Of what waits: for all CPUs, and more on a machine with many.
    size_t bytes = 128 << 20, bytes_a_cpu = 8 << 20;
    std::chrono::nanoseconds age = std::chrono::seconds(10);  // of a copy that waits
  };
  StackUnwinding() : StackUnwinding(Limits{}) {}
  explicit StackUnwinding(const Limits& limits) : limits_(limits) {}

  void set(const StackCopies& copies) { copies_ = copies; }
  // At most so many frames.
  void set_depth(uint32_t depth) { depth_ = depth; }
  uint32_t bytes() const { return copies_.bytes; }
  bool is_active() const { return copies_.bytes != 0; }
  // The trace is turned on.
  void begin();
  void change(const pi_process_change& change);
  std::vector<std::string> notes() const;
  // The lines of a section of frame names, for the numbers above known, which becomes the last one.
  std::string frame_names(uint32_t& known) const;
  // The application was not ready for a copy.
  bool is_waiting() const { return !waiting_.empty(); }

  // For the stack of the next one: memory that an earlier one has used.
  std::vector<std::byte> take_buffer();
  void hold(uint32_t cpu, HeldStack held);
  // Drops all that waits.
  void forget();

  // Passes what is held up to time until and need not wait, in the order of time; resolved is null
  // without a copy. Returns the time of the oldest that must wait, or UINT64_MAX.
  using Put = std::function<void(uint32_t cpu, HeldStack& held, const ResolvedStack* resolved)>;
  enum class Wait {
    usual,   // up to the limits
    at_end,  // whatever its age
    none,
  };
  uint64_t advance(uint64_t until, Wait wait, const Put& put);
  // The same, but waits itself, at most for the limit of the age.
  void finish(uint64_t until, const Put& put);
  std::chrono::nanoseconds patience() const { return limits_.age; }

 private:
  struct Queue {
    std::deque<HeldStack> held;
    size_t tried = 0;  // so many from the front were passed to the application
  };

  // The queue, and its CPU, with the oldest that was not tried, and the oldest of all.
  Queue* oldest_new(uint64_t until);
  Queue* oldest(uint64_t until, uint32_t& cpu);
  void try_again(Wait wait);
  void try_new(uint64_t until, Wait wait);
  void put_done(uint64_t until, const Put& put);
  bool is_over() const;
  // False: the application is not ready.
  bool resolve(HeldStack& held, bool last);
  bool ask(const HeldStack& held, bool last, ResolvedStack& resolved);

  const Limits limits_;
  StackCopies copies_;
  uint32_t depth_ = PITRACE_STACK_DEPTH_MAX;
  std::map<uint32_t, Queue> queues_;  // by CPU
  std::deque<HeldStack*> waiting_;    // of the queues, in the order of their times
  size_t held_bytes_ = 0;
  uint64_t last_id_ = 0;
  std::vector<uint64_t> space_;  // for the frames of one
  std::vector<std::vector<std::byte>> buffers_;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_STACK_UNWINDING_H
