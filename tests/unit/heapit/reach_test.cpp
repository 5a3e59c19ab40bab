// SPDX-License-Identifier: MIT
// The search for leaked blocks, in this program's own memory.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "foreign_memory.h"
#include "maps.h"
#include "reach.h"

namespace {

using namespace pi::heapit;

constexpr uint64_t seconds = 1'000'000'000;

uint64_t address_of(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

// Blocks in one piece of memory, and their nodes.
class HeapitReach : public testing::Test {
 protected:
  HeapitReach() : words_(1 << 16) {}

  // A block of this many words; returns its first one.
  size_t block(size_t words, uint32_t path = 1) {
    const size_t first = used_;
    used_ += words + 2;
    nodes_.push_back({address_of(&words_[first]), words * 8, path & 0x3fffffff, 0, 0});
    return first;
  }
  uint64_t at(size_t word) const { return address_of(&words_[word]); }

  void search(const std::vector<uint64_t>& registers, uint64_t limit_ns = 100 * seconds) {
    const SearchLimit limit(limit_ns);
    ForeignMemory memory(::getpid(), "/proc/self/pagemap");
    std::vector<NodeIndex::Piece> pieces(NodeIndex::pieces_for(nodes_.size()));
    const NodeIndex index(nodes_, pieces);
    Reach reach(index, std::as_writable_bytes(std::span(buffer_)), memory, limit);
    reach.look_at(registers);
    for (const auto& [begin, end] : roots_)
      reach.look_at(begin, end, ForeignMemory::Pages::written);
    reach.follow();
    state_ = reach.state();
  }
  Reached reached(size_t word) const {
    for (const Node& node : nodes_)
      if (node.begin == at(word)) return node.reached();
    return Reached::no;
  }

  std::vector<uint64_t> words_;
  std::vector<Node> nodes_;
  std::vector<std::pair<uint64_t, uint64_t>> roots_;
  std::array<uint64_t, 4096> buffer_;
  size_t used_ = 0;
  pi::heap_log::Search state_{};
};

TEST_F(HeapitReach, FollowsPointersFromBlockToBlock) {
  const size_t first = block(4), second = block(2), lost = block(8), third = block(3000);
  words_[first + 3] = at(second);
  words_[second] = at(third);
  words_[lost] = at(lost);
  words_[lost + 1] = at(first);
  search({at(first)});
  EXPECT_EQ(state_, pi::heap_log::searched);
  EXPECT_EQ(reached(first), Reached::whole);
  EXPECT_EQ(reached(second), Reached::whole);
  EXPECT_EQ(reached(third), Reached::whole);
  EXPECT_EQ(reached(lost), Reached::no);
}

TEST_F(HeapitReach, WhatOnlyTheMiddleOfABlockLeadsToIsApart) {
  const size_t a = block(4), of_a = block(1), b = block(4), of_b = block(1), end = block(2);
  words_[a] = at(of_a);
  words_[b + 2] = at(of_b);
  words_[of_b] = at(b);  // does not make it whole
  search({at(a) + 31, at(b) + 1, at(end) + 16, at(a)});
  EXPECT_EQ(reached(a), Reached::whole);
  EXPECT_EQ(reached(of_a), Reached::whole);
  EXPECT_EQ(reached(b), Reached::inside);
  EXPECT_EQ(reached(of_b), Reached::inside);
  EXPECT_EQ(reached(end), Reached::no);  // one behind its end
}

TEST_F(HeapitReach, MemoryBetweenBlocksIsLookedAtAndThatInThemIsNot) {
  const size_t a = block(6), b = block(1), c = block(0), d = block(5);
  words_[a + 6] = at(b);  // between a and b
  words_[b] = at(d);
  words_[a + 1] = at(c);  // in a
  roots_ = {{at(a) + 8, at(d) + 16}};
  search({});
  EXPECT_EQ(reached(a), Reached::no);
  EXPECT_EQ(reached(b), Reached::whole);
  EXPECT_EQ(reached(c), Reached::no);
  EXPECT_EQ(reached(d), Reached::whole);
  words_[c + 1] = at(a);
  for (Node& node : nodes_) node.reached_ = 0;
  search({});
  EXPECT_EQ(reached(a), Reached::whole);
  EXPECT_EQ(reached(c), Reached::whole);
}

TEST_F(HeapitReach, PagesThatWereNotTouchedAreNotMade) {
  constexpr size_t bytes = 256 << 20;
  auto* memory = static_cast<uint64_t*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  const size_t a = block(2), b = block(2);
  memory[20'000'000] = at(a);
  nodes_.push_back({address_of(memory), bytes, 1, 0, 0});
  search({address_of(memory)});
  EXPECT_EQ(reached(a), Reached::whole);
  EXPECT_EQ(reached(b), Reached::no);
  std::vector<unsigned char> pages(bytes / 4096);
  ASSERT_EQ(::mincore(memory, bytes, pages.data()), 0);
  EXPECT_LE(std::ranges::count(pages, 1), 512);
  // A block that is not there any more is no reason to end.
  nodes_.back().reached_ = 0;
  ::munmap(memory, bytes);
  search({address_of(memory)});
  EXPECT_EQ(state_, pi::heap_log::searched);
}

TEST_F(HeapitReach, ATimeThatIsOverEndsIt) {
  const size_t a = block(2);
  roots_ = {{at(a) + 16, at(a) + 800}};
  search({}, 0);
  EXPECT_EQ(state_, pi::heap_log::no_time);
}

// Random references, beside a plain search of the same graph.
TEST_F(HeapitReach, IsThatOfAPlainSearch) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    nodes_.clear();
    used_ = 0;
    std::ranges::fill(words_, 0);
    std::vector<size_t> blocks, sizes;
    for (int i = 0; i < 400; ++i) {
      sizes.push_back(1 + random() % 40);
      blocks.push_back(block(sizes.back()));
    }
    std::vector<std::vector<size_t>> to(blocks.size());
    for (int i = 0; i < 500; ++i) {
      const size_t from = random() % blocks.size(), target = random() % blocks.size();
      uint64_t& word = words_[blocks[from] + random() % sizes[from]];
      if (word != 0) continue;
      word = at(blocks[target]);
      to[from].push_back(target);
    }
    std::vector<size_t> waiting = {0, 1, 2};
    std::set<size_t> found(waiting.begin(), waiting.end());
    while (!waiting.empty()) {
      const size_t from = waiting.back();
      waiting.pop_back();
      for (const size_t target : to[from])
        if (found.insert(target).second) waiting.push_back(target);
    }
    std::ranges::shuffle(nodes_, random);
    search({at(blocks[0]), at(blocks[1]), at(blocks[2])});
    for (size_t i = 0; i < blocks.size(); ++i)
      EXPECT_EQ(reached(blocks[i]), found.contains(i) ? Reached::whole : Reached::no);
  }
}

}  // namespace
