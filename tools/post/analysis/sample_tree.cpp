// SPDX-License-Identifier: MIT
// Counts ticks by process, thread, module, symbol (and offset).
#include "sample_tree.h"

namespace post {
namespace {

uint64_t hash_of(const Path& path, const Origin& origin) {
  uint64_t hash = static_cast<uint64_t>(origin.pid) << 32 | origin.tid;
  const auto mix = [&hash](uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
  };
  for (const uint64_t value : path) mix(value);
  // A process id that is used again gives equal names to many processes.
  mix(reinterpret_cast<uintptr_t>(origin.process) | (origin.kernel ? 1 : 0));
  return hash;
}

}  // namespace

SampleTree::SampleTree() : slots_(1024) {}

// Where the path is, or the empty slot where it belongs.
size_t SampleTree::slot_of(const Path& path, Found found, const Origin& origin) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash_of(path, origin) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const Leaf& leaf = leaves_[slots_[slot] - 1];
    if (leaf.path == path && leaf.found == found && leaf.origin == origin) break;
  }
  return slot;
}

uint32_t SampleTree::place(const Path& path, Found found, const Origin& origin) {
  size_t slot = slot_of(path, found, origin);
  if (slots_[slot] == 0) {
    if ((leaves_.size() + 1) * 2 > slots_.size()) {
      grow();
      slot = slot_of(path, found, origin);
    }
    leaves_.push_back({path, found, origin, 0});
    slots_[slot] = static_cast<uint32_t>(leaves_.size());
  }
  return slots_[slot] - 1;
}

void SampleTree::grow() {
  slots_.assign(slots_.size() * 2, 0);
  for (uint32_t i = 0; i < leaves_.size(); ++i)
    slots_[slot_of(leaves_[i].path, leaves_[i].found, leaves_[i].origin)] = i + 1;
}

}  // namespace post
