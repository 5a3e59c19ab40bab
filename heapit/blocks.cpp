// SPDX-License-Identifier: MIT
// The live blocks of the program.
#include "blocks.h"

#include <algorithm>
#include <mutex>

#include "pages.h"

namespace pi::heapit {
namespace {

constexpr size_t first_capacity = 256;

}  // namespace

// The highest bits select the shard, the lowest ones the slot.
uint64_t Blocks::hash_of(const void* address) {
  uint64_t hash = reinterpret_cast<uint64_t>(address) * 0x9e3779b97f4a7c15;
  hash ^= hash >> 32;
  return hash * 0xd6e8feb86659fd93;
}

void Blocks::insert(Shard& shard, const Slot& slot) {
  size_t at = home(shard, hash_of(reinterpret_cast<void*>(slot.address)));
  while (shard.slots[at].address != 0) at = (at + 1) & (shard.capacity - 1);
  shard.slots[at] = slot;
}

// At most three quarters are used.
bool Blocks::make_space(Shard& shard) {
  if (shard.slots && shard.used < shard.capacity - shard.capacity / 4) return true;
  const Shard old{{}, shard.slots, shard.capacity, 0};
  const size_t capacity = shard.slots ? shard.capacity * 2 : first_capacity;
  const size_t bytes = capacity * sizeof(Slot), old_bytes = old.capacity * sizeof(Slot);
  const bool allowed = bytes_.fetch_add(bytes) + bytes <= max_bytes_;
  std::byte* memory = allowed ? map_pages(bytes) : nullptr;
  if (!memory) {
    bytes_.fetch_sub(bytes);
    return shard.slots && shard.used < shard.capacity - shard.capacity / 8;
  }
  shard.slots = reinterpret_cast<Slot*>(memory);
  shard.capacity = capacity;
  for (size_t i = 0; i < old.capacity; ++i)
    if (old.slots[i].address != 0) insert(shard, old.slots[i]);
  unmap_pages(reinterpret_cast<std::byte*>(old.slots), old_bytes);
  bytes_.fetch_sub(old_bytes);
  return true;
}

Blocks::Put Blocks::put(const void* address, const Block& block) {
  const uint64_t hash = hash_of(address);
  Shard& shard = shard_of(hash);
  const std::lock_guard lock(shard.lock);
  if (!make_space(shard)) return {false, {}};
  size_t at = home(shard, hash);
  for (; shard.slots[at].address != 0; at = (at + 1) & (shard.capacity - 1))
    if (shard.slots[at].address == reinterpret_cast<uint64_t>(address)) {
      const Block replaced = shard.slots[at].block;
      shard.slots[at].block = block;
      return {true, replaced};
    }
  shard.slots[at] = {reinterpret_cast<uint64_t>(address), block};
  ++shard.used;
  return {true, {}};
}

bool Blocks::is_quiet() const {
  return std::ranges::none_of(shards_, [](const Shard& shard) { return shard.lock.is_taken(); });
}

size_t Blocks::count() const {
  size_t count = 0;
  for (const Shard& shard : shards_) count += shard.used;
  return count;
}

// Moves those behind the gap that a search would not find behind it.
void Blocks::close_gap(Shard& shard, size_t gap) {
  const size_t mask = shard.capacity - 1;
  for (size_t at = (gap + 1) & mask; shard.slots[at].address != 0; at = (at + 1) & mask) {
    const size_t wanted = home(shard, hash_of(reinterpret_cast<void*>(shard.slots[at].address)));
    if (((at - wanted) & mask) < ((at - gap) & mask)) continue;
    shard.slots[gap] = shard.slots[at];
    gap = at;
  }
  shard.slots[gap].address = 0;
}

std::optional<Block> Blocks::take(const void* address) {
  const uint64_t hash = hash_of(address);
  Shard& shard = shard_of(hash);
  const std::lock_guard lock(shard.lock);
  if (!shard.slots) return std::nullopt;
  for (size_t at = home(shard, hash); shard.slots[at].address != 0;
       at = (at + 1) & (shard.capacity - 1))
    if (shard.slots[at].address == reinterpret_cast<uint64_t>(address)) {
      const Block block = shard.slots[at].block;
      close_gap(shard, at);
      --shard.used;
      return block;
    }
  return std::nullopt;
}

}  // namespace pi::heapit
