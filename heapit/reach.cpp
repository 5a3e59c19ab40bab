// SPDX-License-Identifier: MIT
// Which blocks a process can still reach.
#include "reach.h"

#include <algorithm>

namespace pi::heapit {
namespace {

constexpr uint64_t word_bytes = sizeof(uint64_t);

uint64_t round_up(uint64_t address) {
  return (address + word_bytes - 1) & ~(word_bytes - 1);
}

}  // namespace

bool Reach::may_go_on() {
  if (state_ == heap_log::searched) state_ = limit_.reached();
  return state_ == heap_log::searched;
}

void Reach::reach(uint64_t word, Reached reached) {
  Node* node = blocks_.node_at(word);
  if (!node) return;
  if (word != node->begin) reached = Reached::inside;
  if (reached <= node->reached()) return;
  node->reached_ = static_cast<uint32_t>(reached) & 3;
  // Those that are reached inside only are looked at later, when it is known which these are.
  if (reached == Reached::inside && !insides_too_) return;
  node->next = waiting_;
  waiting_ = static_cast<uint32_t>(node - nodes_.data());
}

void Reach::look_at(std::span<const uint64_t> words, Reached reached) {
  bytes_ += words.size_bytes();
  for (const uint64_t word : words) reach(word, reached);
}

void Reach::look_between_blocks(uint64_t begin, std::span<const uint64_t> words, Reached reached) {
  const uint64_t end = begin + words.size_bytes();
  size_t next = blocks_.first_after(begin);
  if (next != 0) begin = std::max(begin, round_up(nodes_[next - 1].end()));
  const uint64_t first = end - words.size_bytes();
  while (begin < end) {
    const uint64_t until = next < nodes_.size() ? std::min(end, round_up(nodes_[next].begin)) : end;
    if (until > begin)
      look_at(words.subspan((begin - first) / word_bytes, (until - begin) / word_bytes), reached);
    if (next == nodes_.size()) return;
    begin = std::max(begin, round_up(nodes_[next++].end()));
  }
}

void Reach::look_at(uint64_t begin, uint64_t end, ForeignMemory::Pages pages, Reached reached,
                    bool without_blocks) {
  begin = round_up(begin);
  end &= ~(word_bytes - 1);
  const auto take = [&](uint64_t from, uint64_t to) {
    while (from < to && may_go_on()) {
      const size_t wanted = std::min<uint64_t>(buffer_.size(), to - from);
      const size_t count = memory_.read(from, buffer_.first(wanted)) / word_bytes;
      const std::span words(reinterpret_cast<const uint64_t*>(buffer_.data()), count);
      if (without_blocks)
        look_between_blocks(from, words, reached);
      else
        look_at(words, reached);
      from += count * word_bytes;
      if (count * word_bytes == wanted) continue;
      // A page that cannot be read, such as one behind the end of its file, is no memory.
      from = (from / page_bytes + 1) * page_bytes;
    }
    return state_ == heap_log::searched;
  };
  if (begin < end && !memory_.for_each_run(begin, end, pages, take, [&] { return may_go_on(); }))
    state_ = heap_log::not_readable;
}

size_t Reach::take_parts(std::array<Node*, most_parts>& parts) {
  size_t count = 0, bytes = 0;
  while (waiting_ != none && count < parts.size()) {
    Node& node = nodes_[waiting_];
    const size_t needed = node.bytes <= most_small ? node.bytes + word_bytes : 0;
    if (bytes + needed > buffer_.size()) break;
    waiting_ = node.next;
    if (node.bytes < word_bytes) continue;
    bytes += needed;
    parts[count++] = &node;
  }
  return count;
}

void Reach::look_directly(std::span<Node* const> parts, Reached reached) {
  for (const Node* node : parts) {
    const uint64_t begin = round_up(node->begin);
    const size_t count = (node->begin + node->bytes - begin) / word_bytes;
    if (node->bytes <= most_small)
      look_at({reinterpret_cast<const uint64_t*>(begin), count}, reached);
  }
}

void Reach::look_into(std::span<Node* const> parts, Reached reached) {
  if (!memory_.look_directly([&] { look_directly(parts, reached); }))
    return look_at_copies(parts, reached);
  for (const Node* node : parts)
    if (node->bytes > most_small)
      look_at(node->begin, node->begin + node->bytes, ForeignMemory::Pages::present, reached,
              false);
}

// Small blocks are copied together, in one system call.
void Reach::look_at_copies(std::span<Node* const> parts, Reached reached) {
  std::array<iovec, most_parts> to, from;
  size_t small = 0, used = 0;
  for (const Node* node : parts) {
    if (node->bytes > most_small) continue;
    const uint64_t begin = round_up(node->begin);
    const size_t bytes = (node->begin + node->bytes - begin) & ~(word_bytes - 1);
    to[small] = {buffer_.data() + used, bytes};
    from[small++] = {reinterpret_cast<void*>(begin), bytes};
    used += bytes;
  }
  const size_t got =
      small == 0 ? 0 : memory_.read(std::span(to).first(small), std::span(from).first(small));
  look_at({reinterpret_cast<const uint64_t*>(buffer_.data()), got / word_bytes}, reached);
  size_t place = 0;
  for (const Node* node : parts) {
    const uint64_t begin = node->begin, end = node->begin + node->bytes;
    if (node->bytes <= most_small) {
      place += (end - round_up(begin)) & ~(word_bytes - 1);
      // Else it is not there any more, or is behind one that is not.
      if (place <= got) continue;
    }
    look_at(begin, end, ForeignMemory::Pages::present, reached, false);
  }
}

void Reach::follow(Reached reached) {
  std::array<Node*, most_parts> parts;
  while (waiting_ != none && may_go_on()) {
    const size_t count = take_parts(parts);
    look_into(std::span(parts).first(count), reached);
  }
}

void Reach::follow() {
  follow(Reached::whole);
  insides_too_ = true;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].reached() != Reached::inside) continue;
    nodes_[i].next = waiting_;
    waiting_ = static_cast<uint32_t>(i);
  }
  follow(Reached::inside);
}

}  // namespace pi::heapit
