// SPDX-License-Identifier: MIT
// Paths of numbers as nodes of a tree.
#include "path_tree.h"

namespace post {

PathTree::PathTree() : nodes_(1), slots_(1024) {}

// The slot of the child, or the empty slot for it.
size_t PathTree::slot_of(uint32_t parent, uint32_t value) const {
  const size_t mask = slots_.size() - 1;
  const uint64_t key = static_cast<uint64_t>(parent) << 32 | value;
  const uint64_t mixed = (key ^ key >> 29) * 0x9e3779b97f4a7c15ull;
  size_t slot = mixed >> 32 & mask;
  for (; slots_[slot].node != 0; slot = (slot + 1) & mask)
    if (slots_[slot].content.parent == parent && slots_[slot].content.value == value) break;
  return slot;
}

uint32_t PathTree::child(uint32_t parent, uint32_t value) {
  size_t slot = slot_of(parent, value);
  if (slots_[slot].node == 0) {
    if (nodes_.size() * 3 > slots_.size() * 2) {
      grow();
      slot = slot_of(parent, value);
    }
    nodes_.push_back({parent, value});
    slots_[slot] = {{parent, value}, static_cast<uint32_t>(nodes_.size() - 1)};
  }
  return slots_[slot].node;
}

void PathTree::grow() {
  slots_.assign(slots_.size() * 2, {});
  for (uint32_t place = 1; place < nodes_.size(); ++place)
    slots_[slot_of(nodes_[place].parent, nodes_[place].value)] = {nodes_[place], place};
}

}  // namespace post
