// SPDX-License-Identifier: MIT
// Counts allocations and their ends in a log.
#ifndef PI_HEAPIT_LIVE_H
#define PI_HEAPIT_LIVE_H

#include <cstddef>
#include <cstdint>
#include <optional>

#include <pi/heap_log.h>

#include "blocks.h"
#include "log.h"

namespace pi::heapit {

class Live {
 public:
  // max_block_bytes: memory for the list of live blocks.
  explicit Live(uint64_t max_block_bytes) : blocks_(max_block_bytes) {}

  void allocated(Log& log, heap_log::Path& path, const void* block, size_t bytes);
  // A block that is known and not counted. False: no space.
  bool was_there(const void* block, size_t bytes) {
    return blocks_.put(block, {bytes, nullptr}).stored;
  }
  // Before the program's allocator may reuse its address. Nothing: it is not known.
  std::optional<Block> take(const void* block) { return blocks_.take(block); }
  static void freed(Log& log, const Block& block);
  // It was not freed.
  void put_back(const void* address, const Block& block) { blocks_.put(address, block); }
  const Blocks& blocks() const { return blocks_; }

 private:
  Blocks blocks_;
};

}  // namespace pi::heapit

#endif  // PI_HEAPIT_LIVE_H
