// SPDX-License-Identifier: MIT
// The recording of this process.
#ifndef PI_HEAPIT_SESSION_H
#define PI_HEAPIT_SESSION_H

#include <cstddef>
#include <cstdint>
#include <optional>

#include <pi/heap_log.h>

#include "code.h"
#include "live.h"
#include "log.h"
#include "paths.h"
#include "stack.h"

namespace pi::heapit {

struct Settings {
  const char* directory;  // of the logs
  bool heap = true, locks = true;
  bool children = true;                          // a child of fork() is recorded, too
  uint64_t max_block_bytes = uint64_t{1} << 30;  // memory for the list of live blocks
  uint64_t search_seconds = 10;                  // for leaked blocks at the end; 0: no search
};

class Session {
 public:
  // Once, when the library is loaded.
  static void start(const Settings& settings);

  // Null: nothing is recorded in this process. A child of fork() begins a recording of its own.
  static Session* get();
  // The same if it records allocations, or waits for locks.
  static Session* of_heap();
  static Session* of_locks();
  // The same when the process ends; null, too, for the second time, and without a search.
  static Session* at_end();

  // Blocks of the time before start() are not counted. But what they refer to is not leaked.
  static bool is_early() { return early; }
  static void end_early() { early = false; }
  static void allocated_early(const void* block, size_t bytes);
  static void freed_early(const void* block);

  // To be called while this thread is Inside.
  void allocated(const void* block, size_t bytes, const Here& here);
  // Before the program's allocator may reuse its address.
  std::optional<Block> take(const void* block) { return live_.take(block); }
  void freed(const Block& block) { Live::freed(log_, block); }
  // It was not freed.
  void put_back(const void* address, const Block& block) { live_.put_back(address, block); }

  heap_log::Path& path(heap_log::Kind kind, const Here& here);

  void code_unloaded() { code_.forget_unloaded(); }

  // For the search.
  Log& log() { return log_; }
  const Blocks& blocks() const { return live_.blocks(); }
  bool knows_all_blocks() const;
  uint64_t search_nanoseconds() const;
  // Calls take(begin, end) for the memory of this library.
  template <class Take>
  void for_each_memory(Take&& take) const {
    take(reinterpret_cast<uint64_t>(this), memory_end_);
    take(log_.begin(), log_.end());
    blocks().for_each_memory(take);
    early_blocks.for_each_memory(take);
  }

 private:
  Session(const Settings& settings, std::byte* memory, size_t bytes);
  static Session* begin();
  void take_early_blocks();

  static bool early;
  static Blocks early_blocks;

  const uint64_t memory_end_;
  const bool heap_, locks_;
  bool knows_early_blocks_ = false;
  Log log_;
  Code code_;
  Paths paths_;
  Live live_;
};

}  // namespace pi::heapit

#endif  // PI_HEAPIT_SESSION_H
