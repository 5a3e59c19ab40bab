// SPDX-License-Identifier: MIT
// Finds the rectangle (address range and time range) that contains an address and a time. The
// rectangles do not overlap.
#ifndef A2N_RECTANGLE_INDEX_H
#define A2N_RECTANGLE_INDEX_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace a2n {

// Addresses [begin, end) during the time [from, until); the caller identifies it by owner.
struct Rectangle {
  uint64_t begin;
  uint64_t end;
  uint64_t from;
  uint64_t until;
  uint32_t owner;
};

// A segment tree. The addresses at which rectangles begin and end divide the address space into
// pieces. A node represents consecutive pieces; its list contains, ordered by time, the rectangles
// that cover the whole node but not its whole parent. A search descends to a piece, then checks the
// lists on the path upwards; mostly the first list has the rectangle. A rectangle has at most two
// list entries per level.
class RectangleIndex {
 public:
  RectangleIndex() = default;
  // No rectangle may be empty in either dimension, and no two may overlap.
  explicit RectangleIndex(std::vector<Rectangle> rectangles);

  // The rectangle that contains address and time, or null.
  const Rectangle* find(uint64_t address, uint64_t time) const;

  const std::vector<Rectangle>& all() const { return rectangles_; }

 private:
  // An entry of a node's list. It repeats the end time, which a search compares.
  struct Item {
    uint64_t until;
    uint32_t rectangle;
  };

  void cut_into_pieces();
  void link_lists();
  // Calls use(node) for each node whose list contains the rectangle.
  template <class Use>
  void for_nodes(const Rectangle& rectangle, Use use) const;
  const Rectangle* at(size_t node, uint64_t time) const;

  std::vector<Rectangle> rectangles_;  // sorted by from
  std::vector<uint64_t> bounds_;       // boundaries of the pieces; only used while building
  size_t leaves_ = 0;   // a power of two; node 1 is the root, n's children are 2n and 2n + 1
  uint64_t begin_ = 0;  // start of the first piece
  uint64_t end_ = 0;    // end of the last piece
  std::vector<uint64_t> middles_;      // by inner node: start of its right child
  std::vector<uint32_t> first_items_;  // by node, plus one: its list ends where the next begins
  std::vector<uint32_t> listed_;  // by node: itself or its nearest ancestor with a list; 0: none
  std::vector<Item> items_;
};

}  // namespace a2n

#endif  // A2N_RECTANGLE_INDEX_H
