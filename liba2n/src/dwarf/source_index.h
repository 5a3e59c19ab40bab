// SPDX-License-Identifier: MIT
// Source lines and inlined functions of one file's code, sorted for lookup.
#ifndef A2N_SOURCE_INDEX_H
#define A2N_SOURCE_INDEX_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace a2n {

// The source line from an address up to the next row. Line 0: not known.
struct SourceRow {
  uint64_t address;
  uint32_t file;  // offset in texts_
  uint32_t line;
};

// An inlined function and its call site.
struct InlineNode {
  uint32_t parent;  // 1 + the node it was inlined into; 0: the symbol's own function
  uint32_t name;    // offset in texts_
  uint32_t call_file;
  uint32_t call_line;
};

// An address range in which node is the innermost inlined function.
struct InlinePiece {
  uint64_t begin;
  uint64_t end;
  uint32_t node;
  uint32_t unused;
};

// One of the functions at an address. Strings are valid as long as the index; empty if not known.
struct IndexedFrame {
  const char* name;  // null: the symbol's own function
  const char* file;
  uint32_t line;
};

// Immutable after it was built. Addresses are virtual addresses of the file.
class SourceIndex {
 public:
  bool empty() const { return rows_.empty() && pieces_.empty(); }

  // The functions at an address, innermost first; the last one is the symbol's own function.
  std::vector<IndexedFrame> at(uint64_t address) const;

  // Converts to bytes for the cache, and back; nullopt if the bytes are not valid output of save().
  std::string save() const;
  static std::optional<SourceIndex> restore(std::string_view bytes);

 private:
  friend class SourceIndexBuilder;

  const char* text(uint32_t offset) const { return texts_.data() + offset; }
  bool valid() const;

  std::vector<SourceRow> rows_;      // sorted by address
  std::vector<InlineNode> nodes_;    // a parent before its children
  std::vector<InlinePiece> pieces_;  // sorted by begin, disjoint
  std::string texts_;                // NUL-terminated strings; the first one is empty
};

// Collects lines and inlined functions in any order.
class SourceIndexBuilder {
 public:
  static constexpr uint32_t none = UINT32_MAX;

  SourceIndexBuilder();
  SourceIndexBuilder(const SourceIndexBuilder&) = delete;
  SourceIndexBuilder& operator=(const SourceIndexBuilder&) = delete;

  // Upper bound of the memory in bytes until build() returns, including unused capacity and the
  // copies made while lists grow or are sorted.
  uint64_t used() const;
  // Unequal to an earlier value if used() has changed since.
  uint64_t elements() const {
    return index_.rows_.size() + index_.nodes_.size() + ranges_.size() + index_.texts_.size();
  }

  uint32_t text(std::string_view text);
  // file: as returned by text(). Line 0 with file 0 ends a sequence; line 0 with another file means
  // that the line is not known.
  void add_row(uint64_t address, uint32_t file, uint32_t line);
  // Adds an inlined function and returns its number. parent: a node or none.
  uint32_t add_node(uint32_t parent, uint32_t name, uint32_t call_file, uint32_t call_line);
  void add_range(uint64_t begin, uint64_t end, uint32_t node, uint32_t depth);

  SourceIndex build();

 private:
  struct Range {
    uint64_t begin;
    uint64_t end;
    uint32_t node;
    uint32_t depth;
  };
  void cut_into_pieces();

  // Hash and equality of strings by offset, so that each string is stored once.
  struct TextHash {
    using is_transparent = void;
    const std::string* texts;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
    size_t operator()(uint32_t offset) const {
      return (*this)(std::string_view(&(*texts)[offset]));
    }
  };
  struct TextEqual {
    using is_transparent = void;
    const std::string* texts;
    std::string_view text(uint32_t offset) const { return &(*texts)[offset]; }
    bool operator()(uint32_t a, uint32_t b) const { return a == b; }
    bool operator()(std::string_view a, uint32_t b) const { return a == text(b); }
    bool operator()(uint32_t a, std::string_view b) const { return text(a) == b; }
  };

  SourceIndex index_;
  std::vector<Range> ranges_;
  std::unordered_set<uint32_t, TextHash, TextEqual> known_texts_;
};

}  // namespace a2n

#endif  // A2N_SOURCE_INDEX_H
