// SPDX-License-Identifier: MIT
// The numbers of each call path, in the log.
#include "paths.h"

#include <cstring>
#include <mutex>

namespace pi::heapit {

using heap_log::Kind;
using heap_log::Path;

namespace {

uint64_t mixed(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 29);
}

// Paths of code that was unloaded are not those of code that is at the same addresses now.
uint64_t hash_of(Kind kind, const Stack& stack, uint64_t generation) {
  uint64_t hash = mixed(generation << 16 | uint64_t{kind} << 8 | stack.end, stack.frames);
  for (size_t i = 0; i < stack.frames; ++i) hash = mixed(hash, stack.addresses[i]);
  return hash;
}

}  // namespace

bool Paths::begin(Log& log) {
  Stack none;
  none.end = heap_log::not_stored;
  for (uint32_t kind = 0; kind < heap_log::kinds; ++kind) {
    not_stored_[kind] = store(static_cast<Kind>(kind), none, log);
    if (!not_stored_[kind]) return false;
  }
  return true;
}

Path* Paths::known(uint64_t hash, Kind kind, const Stack& stack, const Log& log) {
  for (size_t slot = hash % slots;; slot = (slot + 1) % slots) {
    const uint64_t value = slots_[slot].load(std::memory_order_acquire);
    if (value == 0) return nullptr;
    if (value >> 32 != hash >> 32) continue;
    Path* path = log.path_at(static_cast<uint32_t>(value));
    if (path->kind == kind && path->end == stack.end && path->frames == stack.frames &&
        std::memcmp(path + 1, stack.addresses.data(), stack.frames * sizeof(uint64_t)) == 0)
      return path;
  }
}

Path* Paths::store(Kind kind, const Stack& stack, Log& log) {
  const size_t bytes = stack.frames * sizeof(uint64_t);
  auto* path = log.begin<Path>(heap_log::path, bytes);
  if (!path) return nullptr;
  path->kind = kind;
  path->end = static_cast<uint16_t>(stack.end);
  path->frames = static_cast<uint16_t>(stack.frames);
  std::memcpy(path + 1, stack.addresses.data(), bytes);
  log.finish(path->record);
  return path;
}

Path& Paths::find(Kind kind, const Stack& stack, Log& log, CodeFiles& code) {
  const uint64_t hash = hash_of(kind, stack, code.generation());
  if (Path* path = known(hash, kind, stack, log)) return *path;
  const std::lock_guard lock(lock_);
  if (Path* path = known(hash, kind, stack, log)) return *path;
  Path* path = nullptr;
  if (used_ < slots / 2) {
    for (size_t i = 0; i < stack.frames; ++i) code.log_file_of(stack.addresses[i] - 1, log);
    path = store(kind, stack, log);
  }
  if (!path) {
    add(log.header().lost[heap_log::lost_paths], 1);
    return *not_stored_[kind];
  }
  ++used_;
  size_t slot = hash % slots;
  while (slots_[slot].load(std::memory_order_relaxed) != 0) slot = (slot + 1) % slots;
  slots_[slot].store((hash >> 32) << 32 | log.place_of(path), std::memory_order_release);
  return *path;
}

}  // namespace pi::heapit
