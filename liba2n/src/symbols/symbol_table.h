// SPDX-License-Identifier: MIT
// A module's symbols, sorted for lookup, and the rules that choose one of several aliases.
#ifndef A2N_SYMBOL_TABLE_H
#define A2N_SYMBOL_TABLE_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace a2n {

struct Range {
  uint64_t begin;
  uint64_t end;  // exclusive
  bool contains(uint64_t address) const { return begin <= address && address < end; }
};

enum class Binding : uint8_t { global, weak, local };

struct Symbol {
  uint64_t start;
  uint32_t size;              // in bytes; larger sizes are limited to 4 GiB - 1
  uint32_t name : 31;         // offset in the table's names
  uint32_t size_guessed : 1;  // the file has no size: the symbol extends to the next one
};

// Immutable after it was built. Takes 16 bytes per symbol, plus its name.
class SymbolTable {
 public:
  bool empty() const { return symbols_.empty(); }
  size_t size() const { return symbols_.size(); }
  const Symbol& operator[](size_t index) const { return symbols_[index]; }

  // Restores a saved table: symbols sorted by start, each start once, none beyond the end of the
  // address space; names: the NUL-terminated names in the order of the symbols. Nullopt if the data
  // is not valid.
  static std::optional<SymbolTable> restore(std::vector<Symbol> symbols, std::string names);

  // The innermost symbol that contains address, or null.
  const Symbol* find(uint64_t address) const;
  // The last symbol that starts at or before address, even if it ends before address; or null.
  const Symbol* before(uint64_t address) const;
  const char* name(const Symbol& symbol) const { return names_.data() + symbol.name; }
  uint32_t index(const Symbol& symbol) const {
    return static_cast<uint32_t>(&symbol - symbols_.data());
  }

 private:
  friend class SymbolTableBuilder;

  // A range of an outer symbol that continues after an inner one.
  struct Rest {
    uint64_t begin;
    uint64_t end;
    uint32_t symbol;
  };
  void find_rests();

  std::vector<Symbol> symbols_;  // sorted by start, each start once
  std::vector<Rest> rests_;      // sorted by begin, disjoint
  std::string names_;            // NUL-terminated; a name may be the suffix of another
};

// Collects symbols in any order. The names must stay valid until build(). Names that end at the
// same byte in memory also share it in the table, so that the table is not larger than the input.
class SymbolTableBuilder {
 public:
  void add(uint64_t start, uint64_t size, std::string_view name, Binding binding, bool function);
  bool empty() const { return raw_.empty(); }
  size_t size() const { return raw_.size(); }
  // Keeps only the symbols that were added first; first: their number.
  void truncate(size_t first) { raw_.resize(std::min(first, raw_.size())); }

  // Builds the table from the symbols that start inside one of the regions. Of several aliases,
  // preference: with size, function, binding (global, weak, local), fewest leading underscores,
  // shortest name, first in byte order. A symbol without size extends to the next symbol or its
  // region's end; it is dropped if a symbol with a size contains its start.
  SymbolTable build(std::vector<Range> regions);

  // Whether a is preferred to b by name alone; also used for the kernel's symbols.
  static bool better_name(std::string_view a, std::string_view b);

 private:
  struct Raw {
    uint64_t start;
    uint64_t size;
    std::string_view name;
    Binding binding;
    bool function;
    uint32_t underscores;  // number of leading underscores of the name
  };
  static bool before(const Raw& a, const Raw& b);
  void keep_one_per_address();
  void keep_inside(const std::vector<Range>& regions);
  void drop_covered_labels();
  std::vector<uint32_t> append_names(std::string& names) const;

  std::vector<Raw> raw_;
};

}  // namespace a2n

#endif  // A2N_SYMBOL_TABLE_H
