// SPDX-License-Identifier: MIT
// The live blocks of the program, and the path that allocated each.
#ifndef PI_HEAPIT_BLOCKS_H
#define PI_HEAPIT_BLOCKS_H

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <pi/heap_log.h>
#include <pi/raw_lock.h>

namespace pi::heapit {

struct Block {
  uint64_t bytes;
  heap_log::Path* path;  // null: it is not counted
};

class Blocks {
 public:
  static constexpr size_t shards = 64;
  // max_bytes: memory that may be used.
  explicit constexpr Blocks(uint64_t max_bytes) : max_bytes_(max_bytes) {}

  struct Put {
    bool stored;                    // false: no space
    std::optional<Block> replaced;  // one at that address, which was freed without take()
  };
  Put put(const void* address, const Block& block);
  // Removes it. Nothing: not known.
  std::optional<Block> take(const void* address);

  // For a search, while the threads are stopped. False: one of them is about to change the blocks.
  bool is_quiet() const;
  size_t count() const;
  // Calls take(address, block) until it returns false.
  template <class Take>
  bool for_each(Take&& take) const {
    for (const Shard& shard : shards_)
      for (size_t i = 0; i < shard.capacity; ++i)
        if (const Slot& slot = shard.slots[i]; slot.address != 0 && !take(slot.address, slot.block))
          return false;
    return true;
  }
  // Calls take(begin, end) for the memory of this list.
  template <class Take>
  void for_each_memory(Take&& take) const {
    for (const Shard& shard : shards_) {
      const auto begin = reinterpret_cast<uint64_t>(shard.slots);
      take(begin, begin + shard.capacity * sizeof(Slot));
    }
  }

 private:
  struct Slot {
    uint64_t address;  // 0: free
    Block block;
  };
  struct Shard {
    RawLock lock;
    Slot* slots;
    size_t capacity;  // a power of two
    size_t used;
  };
  static uint64_t hash_of(const void* address);
  Shard& shard_of(uint64_t hash) { return shards_[hash >> 58]; }
  bool make_space(Shard& shard);
  static size_t home(const Shard& shard, uint64_t hash) { return hash & (shard.capacity - 1); }
  static void insert(Shard& shard, const Slot& slot);
  static void close_gap(Shard& shard, size_t gap);

  const uint64_t max_bytes_;
  std::atomic<uint64_t> bytes_ = 0;
  std::array<Shard, shards> shards_{};
};

}  // namespace pi::heapit

#endif  // PI_HEAPIT_BLOCKS_H
