// SPDX-License-Identifier: MIT
// Disjoint address ranges, sorted; a copy shares its nodes with the source until either changes.
#ifndef A2N_PIECE_TREE_H
#define A2N_PIECE_TREE_H

#include <cstdint>
#include <utility>

namespace a2n {

// The mapping that covers [begin, end); the caller identifies it by tag.
struct Piece {
  uint64_t begin;
  uint64_t end;
  uint32_t tag;
};

// A treap with copy-on-write nodes. A copy of the tree takes constant time; a change afterwards
// copies the nodes on the path to a piece, about 2 log(number of pieces). The reference counts are
// not atomic: only one thread at a time may use the copies.
class PieceTree {
 public:
  // Adds a piece and removes the parts of other pieces that it overlaps; their remainders on either
  // side stay. If memory runs out, the tree is left empty.
  void replace(const Piece& piece);
  // The piece that contains address, or null. Valid until the next change.
  const Piece* find(uint64_t address) const;

 private:
  struct Node;
  class Ref {
   public:
    Ref() = default;
    explicit Ref(Node* node) : node_(node) {}
    Ref(const Ref& other);
    Ref(Ref&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    Ref& operator=(Ref other) noexcept {
      std::swap(node_, other.node_);
      return *this;
    }
    ~Ref();
    explicit operator bool() const { return node_ != nullptr; }
    Node* operator->() const { return node_; }
    const Node* get() const { return node_; }

   private:
    Node* node_ = nullptr;
  };

  static Ref make(const Piece& piece);
  static Ref unshared(Ref node);
  static void split(Ref node, uint64_t address, Ref& before, Ref& rest);
  static Ref join(Ref left, Ref right);
  static const Piece* last(const Ref& node);
  static Ref end_last(Ref node, uint64_t end);

  Ref root_;
};

}  // namespace a2n

#endif  // A2N_PIECE_TREE_H
