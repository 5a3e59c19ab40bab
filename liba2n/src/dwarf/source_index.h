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

// From an address on, up to the next row: a line of a file. Line 0: nothing is known.
struct SourceRow {
  uint64_t address;
  uint32_t file;  // offset in the texts
  uint32_t line;
};

// A function that was inlined, and where it was called from.
struct InlineNode {
  uint32_t parent;  // node it was inlined into + 1; 0: the symbol's own function
  uint32_t name;    // offset in the texts
  uint32_t call_file;
  uint32_t call_line;
};

// Where a node is the innermost one.
struct InlinePiece {
  uint64_t begin;
  uint64_t end;
  uint32_t node;
  uint32_t unused;
};

// One function of those at an address. Texts live as long as the index; empty where not known.
struct IndexedFrame {
  const char* name;  // null: that of the symbol
  const char* file;
  uint32_t line;
};

// Read-only after it was built. Addresses are the file's own.
class SourceIndex {
 public:
  bool empty() const { return rows_.empty() && pieces_.empty(); }

  // Innermost first; the last one is the symbol's own function.
  std::vector<IndexedFrame> at(uint64_t address) const;

  // As bytes for the cache, and back; nothing when they are not what save() makes.
  std::string save() const;
  static std::optional<SourceIndex> restore(std::string_view bytes);

 private:
  friend class SourceIndexBuilder;

  const char* text(uint32_t offset) const { return texts_.data() + offset; }
  bool valid() const;

  std::vector<SourceRow> rows_;      // by address
  std::vector<InlineNode> nodes_;    // a parent before its children
  std::vector<InlinePiece> pieces_;  // by begin, disjoint
  std::string texts_;                // each ends with NUL; begins with an empty one
};

// Collects in any order.
class SourceIndexBuilder {
 public:
  static constexpr uint32_t none = UINT32_MAX;

  SourceIndexBuilder();
  SourceIndexBuilder(const SourceIndexBuilder&) = delete;
  SourceIndexBuilder& operator=(const SourceIndexBuilder&) = delete;

  // Bytes of memory that what was collected so far takes at most until it is built: with what lists
  // have in reserve, and the copies that are made while they grow or are sorted.
  uint64_t used() const;

  uint32_t text(std::string_view text);
  // file as given by text(); line 0 of file 0 ends what is known, of another one it is not known.
  void add_row(uint64_t address, uint32_t file, uint32_t line);
  // parent: a node or none. The node's number.
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

  // Texts by their offsets; they are kept once.
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
