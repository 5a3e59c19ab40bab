// SPDX-License-Identifier: MIT
// The numbers of each call path, in the log.
#ifndef PI_HEAPIT_PATHS_H
#define PI_HEAPIT_PATHS_H

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <pi/heap_log.h>
#include <pi/raw_lock.h>

#include "call_path.h"
#include "log.h"

namespace pi::heapit {

class Paths {
  // Half of a hash, and the place of the path's record. 0: free.
  using Slot = std::atomic<uint64_t>;
  static constexpr size_t slots = 1 << 20;

 public:
  static constexpr size_t memory_bytes = slots * sizeof(Slot);
  // memory: that many zeroed bytes.
  explicit Paths(std::byte* memory) : slots_(reinterpret_cast<Slot*>(memory)) {}

  // Stores the paths that stand for those that are not stored. False: no space.
  bool begin(Log& log);

  // Never null. No lock if the path is known.
  heap_log::Path& find(heap_log::Kind kind, const Stack& stack, Log& log, CodeFiles& code);

 private:
  heap_log::Path* known(uint64_t hash, heap_log::Kind kind, const Stack& stack, const Log& log);
  static heap_log::Path* store(heap_log::Kind kind, const Stack& stack, Log& log);

  Slot* slots_;
  RawLock lock_;
  size_t used_ = 0;
  std::array<heap_log::Path*, heap_log::kinds> not_stored_{};
};

}  // namespace pi::heapit

#endif  // PI_HEAPIT_PATHS_H
