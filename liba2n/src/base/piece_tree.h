// SPDX-License-Identifier: MIT
// Disjoint pieces of addresses, sorted; a copy shares everything with its original.
#ifndef A2N_PIECE_TREE_H
#define A2N_PIECE_TREE_H

#include <cstdint>
#include <utility>

namespace a2n {

// [begin, end) belongs to the mapping the caller calls tag.
struct Piece {
  uint64_t begin;
  uint64_t end;
  uint32_t tag;
};

// A treap whose nodes are copied when they change and only if they are shared. So a copy of the
// tree costs nothing, and a change after it as many nodes as lie on the way to a piece: about
// twice the logarithm of the number of pieces. Copies are used by one thread at a time.
class PieceTree {
 public:
  // Adds a piece and ends exactly what it overlaps; what sticks out on either side stays. When
  // memory runs out the tree is empty.
  void replace(const Piece& piece);
  // The piece that contains address, or null; valid until the next change.
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
