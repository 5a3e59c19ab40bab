// SPDX-License-Identifier: MIT
// Counts the calls of a process that runs in a log.
#ifndef HEAPWATCH_RECORDING_H
#define HEAPWATCH_RECORDING_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>

#include "call.h"
#include "live.h"
#include "log.h"

namespace heapwatch {

class Recording {
 public:
  using FindPath = std::function<pi::heap_log::Path&()>;

  explicit Recording(pi::heapit::Log& log) : log_(log), live_(max_block_bytes) {}

  // In the order of the calls.
  void enter(Function function, const Call& call);
  // find: the path of the call, if it has allocated.
  void leave(Function function, const Call& call, const FindPath& find);
  // Calls were lost before this one: those that have begun may have ended, and others begun.
  void lose(uint64_t lost_until_now);

  const pi::heapit::Blocks& blocks() const { return live_.blocks(); }
  // Whether each call that could end a block was seen.
  bool knows_all_ends() const;

 private:
  // A call that has not returned. Calls inside of it are the allocator's own.
  struct Begun {
    Function function;
    uint64_t stack_pointer;  // where the return address is
    uint64_t bytes;
    uint64_t old;                            // the block that realloc() moves
    std::optional<pi::heapit::Block> known;  // what is known about it
  };
  static constexpr uint64_t max_block_bytes = uint64_t{1} << 30;
  static constexpr size_t max_begun = 1 << 16;  // threads that are in a call at once

  bool is_inside(const Call& call) const;
  void free(uint64_t block);
  void end_of_old(const Begun& begun, bool was_freed);

  pi::heapit::Log& log_;
  pi::heapit::Live live_;
  std::unordered_map<uint32_t, Begun> begun_;  // by thread
  uint64_t lost_ = 0;
};

}  // namespace heapwatch

#endif  // HEAPWATCH_RECORDING_H
