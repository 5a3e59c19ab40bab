// SPDX-License-Identifier: MIT
// Paths of numbers as nodes of a tree: paths with a common beginning share it.
#ifndef POST_PATH_TREE_H
#define POST_PATH_TREE_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace post {

// The number of a node never changes, and is higher than that of its parent; memory grows with the
// number of different paths only.
class PathTree {
 public:
  static constexpr uint32_t root = 0;

  struct Node {
    uint32_t parent = 0;
    uint32_t value = 0;
  };

  PathTree();

  // The node of value directly below parent, added when it is new.
  uint32_t child(uint32_t parent, uint32_t value);

  const Node& node(uint32_t place) const { return nodes_[place]; }
  size_t size() const { return nodes_.size(); }

 private:
  // With the contents of the node, so that a lookup reads one place of the memory.
  struct Slot {
    Node content;
    uint32_t node = 0;  // 0: empty, since the root has no parent
  };

  size_t slot_of(uint32_t parent, uint32_t value) const;
  void grow();

  std::vector<Node> nodes_;
  std::vector<Slot> slots_;  // open addressing
};

}  // namespace post

#endif  // POST_PATH_TREE_H
