// SPDX-License-Identifier: MIT
// Disjoint address ranges, sorted; a copy shares its nodes with the source until either changes.
#include "piece_tree.h"

#include <optional>

namespace a2n {

struct PieceTree::Node {
  Piece piece;
  uint32_t priority;  // heap order: not below the children's
  uint32_t users;     // reference count: parent nodes (of several trees) and roots
  Ref left;
  Ref right;
};

PieceTree::Ref::Ref(const Ref& other) : node_(other.node_) {
  if (node_) ++node_->users;
}

PieceTree::Ref::~Ref() {
  if (node_ && --node_->users == 0) delete node_;
}

// The priority is a hash of the node's address in memory: an input cannot choose it, so it cannot
// make the tree degenerate.
PieceTree::Ref PieceTree::make(const Piece& piece) {
  Node* const node = new Node{piece, 0, 1, {}, {}};
  uint64_t mixed = (reinterpret_cast<uintptr_t>(node) >> 4) ^ piece.begin;
  mixed = (mixed ^ mixed >> 31) * 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9;
  node->priority = static_cast<uint32_t>(mixed >> 32);
  return Ref(node);
}

PieceTree::Ref PieceTree::unshared(Ref node) {
  if (node->users == 1) return node;
  return Ref(new Node{node->piece, node->priority, 1, node->left, node->right});
}

// Moves the pieces that begin below address to before, all others to rest.
void PieceTree::split(Ref node, uint64_t address, Ref& before, Ref& rest) {
  if (!node) {
    before = {};
    rest = {};
    return;
  }
  node = unshared(std::move(node));
  if (node->piece.begin < address) {
    split(std::move(node->right), address, node->right, rest);
    before = std::move(node);
  } else {
    split(std::move(node->left), address, before, node->left);
    rest = std::move(node);
  }
}

// Requires every piece of left to be below every piece of right.
PieceTree::Ref PieceTree::join(Ref left, Ref right) {
  if (!left) return right;
  if (!right) return left;
  if (left->priority > right->priority) {
    left = unshared(std::move(left));
    left->right = join(std::move(left->right), std::move(right));
    return left;
  }
  right = unshared(std::move(right));
  right->left = join(std::move(left), std::move(right->left));
  return right;
}

const Piece* PieceTree::last(const Ref& node) {
  const Node* at = node.get();
  while (at && at->right) at = at->right.get();
  return at ? &at->piece : nullptr;
}

PieceTree::Ref PieceTree::end_last(Ref node, uint64_t end) {
  node = unshared(std::move(node));
  if (node->right)
    node->right = end_last(std::move(node->right), end);
  else
    node->piece.end = end;
  return node;
}

void PieceTree::replace(const Piece& piece) {
  Ref before, covered, after;
  split(std::move(root_), piece.begin, before, after);
  split(std::move(after), piece.end, covered, after);
  std::optional<Piece> rest;  // the remainder of an overlapped piece, after the new one
  for (const Piece* cut : {last(before), last(covered)})
    if (cut && cut->end > piece.end) rest = {piece.end, cut->end, cut->tag};
  if (const Piece* cut = last(before); cut && cut->end > piece.begin)
    before = end_last(std::move(before), piece.begin);
  Ref all = join(std::move(before), make(piece));
  if (rest) all = join(std::move(all), make(*rest));
  root_ = join(std::move(all), std::move(after));
}

const Piece* PieceTree::find(uint64_t address) const {
  const Piece* found = nullptr;
  for (const Node* node = root_.get(); node;) {
    if (address < node->piece.begin) {
      node = node->left.get();
    } else {
      found = &node->piece;
      node = node->right.get();
    }
  }
  return found && address < found->end ? found : nullptr;
}

}  // namespace a2n
