// SPDX-License-Identifier: MIT
// Which blocks a process can still reach: words in memory that may be pointers are followed from
// block to block.
#ifndef PI_HEAPIT_REACH_H
#define PI_HEAPIT_REACH_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "foreign_memory.h"
#include "node_index.h"
#include "search_limit.h"
#include "workspace.h"

namespace pi::heapit {

class Reach {
 public:
  // blocks: all of them. buffer: what memory is copied to.
  Reach(const NodeIndex& blocks, std::span<std::byte> buffer, ForeignMemory& memory,
        const SearchLimit& limit)
      : blocks_(blocks), nodes_(blocks.nodes()), buffer_(buffer), memory_(memory), limit_(limit) {}

  // Blocks that these words and this memory point to are reached. Memory in blocks is left out.
  void look_at(std::span<const uint64_t> words) { look_at(words, Reached::whole); }
  void look_at(uint64_t begin, uint64_t end, ForeignMemory::Pages pages) {
    look_at(begin, end, pages, Reached::whole, true);
  }
  // And those that reached blocks point to.
  void follow();

  // Why the search has ended too early.
  heap_log::Search state() const { return state_; }
  uint64_t bytes() const { return bytes_; }

 private:
  static constexpr uint32_t none = UINT32_MAX;
  static constexpr size_t most_parts = 64, most_small = 16 << 10;

  void look_at(std::span<const uint64_t> words, Reached reached);
  void look_at(uint64_t begin, uint64_t end, ForeignMemory::Pages pages, Reached reached,
               bool without_blocks);
  void look_between_blocks(uint64_t begin, std::span<const uint64_t> words, Reached reached);
  void reach(uint64_t word, Reached reached);
  void follow(Reached reached);
  size_t take_parts(std::array<Node*, most_parts>& parts);
  void look_into(std::span<Node* const> parts, Reached reached);
  void look_directly(std::span<Node* const> parts, Reached reached);
  void look_at_copies(std::span<Node* const> parts, Reached reached);
  bool may_go_on();

  const NodeIndex& blocks_;
  const std::span<Node> nodes_;  // by address
  const std::span<std::byte> buffer_;
  ForeignMemory& memory_;
  const SearchLimit& limit_;
  uint32_t waiting_ = none;
  bool insides_too_ = false;  // those that are reached inside only are looked at as well
  heap_log::Search state_ = heap_log::searched;
  uint64_t bytes_ = 0;
};

}  // namespace pi::heapit

#endif  // PI_HEAPIT_REACH_H
