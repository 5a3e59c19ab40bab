// SPDX-License-Identifier: MIT
// Blocks by address, and which one an address is in.
#ifndef PI_HEAPIT_NODE_INDEX_H
#define PI_HEAPIT_NODE_INDEX_H

#include <cstddef>
#include <cstdint>
#include <span>

namespace pi::heapit {

// How a block is reached: not at all; only by pointers behind its first byte, or through a block
// that is reached so; from its beginning.
enum class Reached : uint32_t { no, inside, whole };

struct Node {
  uint64_t begin, bytes;
  uint32_t path : 30;  // as the search's caller numbers them
  uint32_t reached_ : 2;
  uint32_t next;  // in the list of those whose memory was not looked at

  Reached reached() const { return static_cast<Reached>(reached_); }
  // A pointer to a block of no bytes is one to its beginning.
  uint64_t end() const { return begin + (bytes == 0 ? 1 : bytes); }
};

class NodeIndex {
 public:
  // The nodes that begin in the same piece of memory.
  struct Piece {
    uint64_t number;
    uint32_t first, count;  // 0: free
  };
  // How many there should be for that many nodes.
  static size_t pieces_for(size_t nodes);

  // Sorts the nodes. pieces: zeroed.
  NodeIndex(std::span<Node> nodes, std::span<Piece> pieces);

  std::span<Node> nodes() const { return nodes_; }
  // Null: in none.
  Node* node_at(uint64_t address) const;
  // The index of the first one that begins behind this address.
  size_t first_after(uint64_t address) const;

 private:
  static uint64_t hash_of(uint64_t number);
  size_t count_pieces(unsigned shift) const;
  Piece& piece(uint64_t number) const;
  void fill();

  const std::span<Node> nodes_;
  std::span<Piece> pieces_;  // a power of two
  unsigned shift_ = 12;      // of an address, to the number of its piece
  uint64_t lowest_ = 0, highest_ = 0;
};

}  // namespace pi::heapit

#endif  // PI_HEAPIT_NODE_INDEX_H
