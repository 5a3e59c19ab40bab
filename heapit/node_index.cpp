// SPDX-License-Identifier: MIT
// Blocks by address.
#include "node_index.h"

#include <algorithm>
#include <bit>

namespace pi::heapit {

size_t NodeIndex::pieces_for(size_t nodes) {
  constexpr size_t most = 1 << 22;
  return std::min(std::bit_ceil(2 * nodes + 2), most);
}

NodeIndex::NodeIndex(std::span<Node> nodes, std::span<Piece> pieces)
    : nodes_(nodes), pieces_(pieces) {
  std::ranges::sort(nodes_, {}, &Node::begin);
  if (nodes_.empty()) return;
  lowest_ = nodes_.front().begin;
  for (const Node& node : nodes_) highest_ = std::max(highest_, node.end());
  // Large pieces where there would be too many; and no more space than they need.
  size_t count = count_pieces(shift_);
  while (count > pieces_.size() / 2) count = count_pieces(++shift_);
  pieces_ = pieces_.first(std::min(pieces_.size(), std::bit_ceil(2 * count)));
  fill();
}

size_t NodeIndex::count_pieces(unsigned shift) const {
  size_t count = 0;
  uint64_t last = UINT64_MAX;
  for (const Node& node : nodes_)
    if (const uint64_t number = node.begin >> shift; number != last) {
      ++count;
      last = number;
    }
  return count;
}

uint64_t NodeIndex::hash_of(uint64_t number) {
  const uint64_t hash = number * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 32);
}

NodeIndex::Piece& NodeIndex::piece(uint64_t number) const {
  size_t at = hash_of(number) & (pieces_.size() - 1);
  while (pieces_[at].count != 0 && pieces_[at].number != number)
    at = (at + 1) & (pieces_.size() - 1);
  return pieces_[at];
}

void NodeIndex::fill() {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const uint64_t number = nodes_[i].begin >> shift_;
    Piece& found = piece(number);
    if (found.count == 0) found = {number, static_cast<uint32_t>(i), 0};
    ++found.count;
  }
}

size_t NodeIndex::first_after(uint64_t address) const {
  return static_cast<size_t>(std::ranges::upper_bound(nodes_, address, {}, &Node::begin) -
                             nodes_.begin());
}

Node* NodeIndex::node_at(uint64_t address) const {
  if (address < lowest_ || address >= highest_) return nullptr;
  const Piece& found = piece(address >> shift_);
  size_t after = 0;
  if (found.count == 0) {
    after = first_after(address);
  } else {
    const auto nodes = nodes_.subspan(found.first, found.count);
    after = found.first +
            static_cast<size_t>(std::ranges::upper_bound(nodes, address, {}, &Node::begin) -
                                nodes.begin());
    if (after == 0) return nullptr;
  }
  Node& node = nodes_[after - 1];
  return address < node.end() ? &node : nullptr;
}

}  // namespace pi::heapit
