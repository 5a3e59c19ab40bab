// SPDX-License-Identifier: MIT
// Finds, among rectangles of addresses and times that do not overlap, the one at a place and
// moment.
#ifndef A2N_RECTANGLE_INDEX_H
#define A2N_RECTANGLE_INDEX_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace a2n {

// What the caller calls owner, at the addresses [begin, end) at the times [from, until).
struct Rectangle {
  uint64_t begin;
  uint64_t end;
  uint64_t from;
  uint64_t until;
  uint32_t owner;
};

// A segment tree: the addresses at which rectangles begin and end divide all addresses into pieces,
// a node stands for a run of pieces, and lists, by time, the rectangles that cover all of it and
// not all of the node above. A search goes down to a piece and then up from list to list: mostly
// the first one has it. Memory is at most two lists' entries a rectangle and level.
class RectangleIndex {
 public:
  RectangleIndex() = default;
  // None may be empty in either direction, no two may overlap.
  explicit RectangleIndex(std::vector<Rectangle> rectangles);

  // Null where there is none.
  const Rectangle* find(uint64_t address, uint64_t time) const;

  const std::vector<Rectangle>& all() const { return rectangles_; }

 private:
  // Of a node's list; the end is here as well because it is what a search compares.
  struct Item {
    uint64_t until;
    uint32_t rectangle;
  };

  void cut_into_pieces();
  void link_lists();
  // Calls use(node) for each node whose list holds the rectangle.
  template <class Use>
  void for_nodes(const Rectangle& rectangle, Use use) const;
  const Rectangle* at(size_t node, uint64_t time) const;

  std::vector<Rectangle> rectangles_;  // by from
  std::vector<uint64_t> bounds_;       // of the pieces; only while it is built
  size_t leaves_ = 0;   // a power of two; node 1 is the root, n's children are 2n and 2n + 1
  uint64_t begin_ = 0;  // of the first piece
  uint64_t end_ = 0;    // of the last one
  std::vector<uint64_t> middles_;      // by node above the leaves: where its right child begins
  std::vector<uint32_t> first_items_;  // by node, and one more: its list ends where the next begins
  std::vector<uint32_t> listed_;  // by node: the next one from it upwards that has a list; 0: none
  std::vector<Item> items_;
};

}  // namespace a2n

#endif  // A2N_RECTANGLE_INDEX_H
