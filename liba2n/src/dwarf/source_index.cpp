// SPDX-License-Identifier: MIT
// Source lines and inlined functions of one file's code, sorted for lookup.
#include "source_index.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <type_traits>
#include <utility>

#include "base/last_at.h"

namespace a2n {
namespace {

constexpr char magic[8] = {'P', 'I', 'L', 'I', 'N', 'E', 'S', '1'};
constexpr size_t max_texts = size_t{1} << 31;
constexpr size_t max_inlined_frames = 256;  // functions inlined into each other

// counts: numbers of rows, nodes and pieces, and the size of the texts. The checksum is over all
// bytes after the head.
struct SavedHead {
  char magic[8];
  std::array<uint64_t, 4> counts;
  uint64_t checksum;
};

// Similar to FNV-1a, by words: it detects damage, but not forged files.
uint64_t checksum(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t at = 0; at < bytes.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min<size_t>(8, bytes.size() - at));
    hash = (hash ^ word) * 0x100000001b3;
    hash ^= hash >> 29;
  }
  return hash;
}

template <class T>
void put(std::string& out, const std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// Removes count values from the beginning of bytes; false if there are fewer.
template <class T>
bool take(std::string_view& bytes, uint64_t count, std::vector<T>& values) {
  if (count > bytes.size() / sizeof(T)) return false;
  values.resize(count);
  if (count != 0) std::memcpy(values.data(), bytes.data(), count * sizeof(T));
  bytes.remove_prefix(count * sizeof(T));
  return true;
}

}  // namespace

std::vector<IndexedFrame> SourceIndex::at(uint64_t address) const {
  std::vector<IndexedFrame> frames;
  const SourceRow* row = last_at(rows_, address, &SourceRow::address);
  const char* file = row && row->line != 0 ? text(row->file) : "";
  uint32_t line = row ? row->line : 0;
  const InlinePiece* piece = last_at(pieces_, address, &InlinePiece::begin);
  uint32_t node = piece && address < piece->end ? piece->node + 1 : 0;
  for (; node != 0 && frames.size() < max_inlined_frames; node = nodes_[node - 1].parent) {
    const InlineNode& inlined = nodes_[node - 1];
    frames.push_back({text(inlined.name), file, line});
    file = text(inlined.call_file);
    line = inlined.call_line;
  }
  frames.push_back({nullptr, file, line});
  return frames;
}

std::string SourceIndex::save() const {
  std::string body;
  put(body, rows_);
  put(body, nodes_);
  put(body, pieces_);
  body += texts_;
  SavedHead head{{}, {rows_.size(), nodes_.size(), pieces_.size(), texts_.size()}, checksum(body)};
  std::memcpy(head.magic, magic, sizeof magic);
  return std::string(reinterpret_cast<const char*>(&head), sizeof head) + body;
}

std::optional<SourceIndex> SourceIndex::restore(std::string_view bytes) {
  SavedHead head;
  if (bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  bytes.remove_prefix(sizeof head);
  if (std::memcmp(head.magic, magic, sizeof magic) != 0 || checksum(bytes) != head.checksum)
    return std::nullopt;
  SourceIndex index;
  if (!take(bytes, head.counts[0], index.rows_) || !take(bytes, head.counts[1], index.nodes_) ||
      !take(bytes, head.counts[2], index.pieces_) || bytes.size() != head.counts[3])
    return std::nullopt;
  index.texts_ = bytes;
  if (!index.valid()) return std::nullopt;
  return index;
}

// Whether all offsets and node numbers are in range.
bool SourceIndex::valid() const {
  const auto is_text = [this](uint32_t offset) { return offset < texts_.size(); };
  if (texts_.empty() || texts_.back() != '\0') return false;
  for (const SourceRow& row : rows_)
    if (!is_text(row.file)) return false;
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].parent > i || !is_text(nodes_[i].name) || !is_text(nodes_[i].call_file))
      return false;
  return std::all_of(pieces_.begin(), pieces_.end(),
                     [this](const InlinePiece& piece) { return piece.node < nodes_.size(); });
}

SourceIndexBuilder::SourceIndexBuilder()
    : known_texts_(0, TextHash{&index_.texts_}, TextEqual{&index_.texts_}) {
  index_.texts_.push_back('\0');
}

uint64_t SourceIndexBuilder::used() const {
  constexpr uint64_t node = 32;  // bytes of a set node, with the allocator's overhead
  const auto grown = [](const auto& list) { return list.capacity() + list.size(); };
  // A range adds at most two pieces.
  return grown(index_.rows_) * sizeof(SourceRow) + grown(index_.nodes_) * sizeof(InlineNode) +
         grown(ranges_) * sizeof(Range) + ranges_.size() * 2 * sizeof(InlinePiece) +
         grown(index_.texts_) + known_texts_.size() * node +
         2 * known_texts_.bucket_count() * sizeof(void*);
}

uint32_t SourceIndexBuilder::text(std::string_view text) {
  if (text.empty() || index_.texts_.size() + text.size() >= max_texts) return 0;
  if (const auto known = known_texts_.find(text); known != known_texts_.end()) return *known;
  const auto offset = static_cast<uint32_t>(index_.texts_.size());
  index_.texts_.append(text).push_back('\0');
  known_texts_.insert(offset);
  return offset;
}

void SourceIndexBuilder::add_row(uint64_t address, uint32_t file, uint32_t line) {
  index_.rows_.push_back({address, file, line});
}

uint32_t SourceIndexBuilder::add_node(uint32_t parent, uint32_t name, uint32_t call_file,
                                      uint32_t call_line) {
  index_.nodes_.push_back({parent == none ? 0 : parent + 1, name, call_file, call_line});
  return static_cast<uint32_t>(index_.nodes_.size() - 1);
}

void SourceIndexBuilder::add_range(uint64_t begin, uint64_t end, uint32_t node, uint32_t depth) {
  if (begin < end) ranges_.push_back({begin, end, node, depth});
}

// Walks the sorted ranges with a stack of the open ones; each is pushed and popped once. In an open
// range, depth is reused as the link to the range below it on the stack.
void SourceIndexBuilder::cut_into_pieces() {
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
    return std::pair(a.begin, a.depth) < std::pair(b.begin, b.depth);
  });
  index_.pieces_.reserve(2 * ranges_.size());
  uint32_t open = none;
  uint64_t at = 0;
  const auto emit = [&](uint64_t end) {
    if (at < end) index_.pieces_.push_back({at, end, ranges_[open].node, 0});
    at = std::max(at, end);
  };
  const auto close_until = [&](uint64_t address) {
    while (open != none && ranges_[open].end <= address) {
      emit(ranges_[open].end);
      open = ranges_[open].depth;
    }
    if (open != none) emit(address);
  };
  for (uint32_t i = 0; i < ranges_.size(); ++i) {
    Range& range = ranges_[i];
    close_until(range.begin);
    if (open != none) range.end = std::min(range.end, ranges_[open].end);
    at = range.begin;
    range.depth = open;
    open = i;
  }
  close_until(UINT64_MAX);
  std::vector<Range>().swap(ranges_);
  index_.pieces_.shrink_to_fit();
}

SourceIndex SourceIndexBuilder::build() {
  // At equal addresses the end of a sequence is sorted before the beginning of the next, so the
  // latter is found.
  std::stable_sort(index_.rows_.begin(), index_.rows_.end(),
                   [](const SourceRow& a, const SourceRow& b) {
                     const bool a_ends = a.line == 0 && a.file == 0;
                     const bool b_ends = b.line == 0 && b.file == 0;
                     return std::pair(a.address, !a_ends) < std::pair(b.address, !b_ends);
                   });
  cut_into_pieces();
  index_.rows_.shrink_to_fit();
  return std::move(index_);
}

}  // namespace a2n
