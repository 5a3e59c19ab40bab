// SPDX-License-Identifier: MIT
// A module's symbols, sorted for lookup, and the rules by which one of several names wins.
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
  uint32_t size;              // what is beyond 4 GiB is cut off
  uint32_t name : 31;         // offset in the table's names
  uint32_t size_guessed : 1;  // it had none and reaches to the next symbol
};

// Read-only after it was built; 16 bytes a symbol and its name.
class SymbolTable {
 public:
  bool empty() const { return symbols_.empty(); }
  size_t size() const { return symbols_.size(); }
  const Symbol& operator[](size_t index) const { return symbols_[index]; }

  // Puts together what was saved: symbols by start, each start once and none beyond the address
  // space, their names NUL-ended one after the other. Nothing when it is not like that.
  static std::optional<SymbolTable> restore(std::vector<Symbol> symbols, std::string names);

  // The innermost symbol that covers address, or null.
  const Symbol* find(uint64_t address) const;
  // The last symbol that starts at or before address, whether it reaches it or not; or null.
  const Symbol* before(uint64_t address) const;
  const char* name(const Symbol& symbol) const { return names_.data() + symbol.name; }
  uint32_t index(const Symbol& symbol) const {
    return static_cast<uint32_t>(&symbol - symbols_.data());
  }

 private:
  friend class SymbolTableBuilder;

  // Where an outer symbol goes on behind an inner one.
  struct Rest {
    uint64_t begin;
    uint64_t end;
    uint32_t symbol;
  };
  void find_rests();

  std::vector<Symbol> symbols_;  // by start, each start once
  std::vector<Rest> rests_;      // by begin, disjoint
  std::string names_;            // each ends with NUL; one may be the end of another
};

// Collects symbols in any order. The names given must live until build(). Names that end at the
// same byte in memory share it in the table, too: what it takes is at most what they took.
class SymbolTableBuilder {
 public:
  void add(uint64_t start, uint64_t size, std::string_view name, Binding binding, bool function);
  bool empty() const { return raw_.empty(); }
  size_t size() const { return raw_.size(); }
  // Drops what was added behind the first ones.
  void forget_behind(size_t first) { raw_.resize(std::min(first, raw_.size())); }

  // Keeps what starts inside one of the regions. Aliases: a size beats none, a function beats a
  // label, then global, weak, local, then fewest leading underscores, the shortest name, the first
  // in byte order. A symbol without size reaches to the next symbol or its region's end and gives
  // way to one that covers its start.
  SymbolTable build(std::vector<Range> regions);

  // The order of two aliases by name alone; shared with the kernel's symbols.
  static bool better_name(std::string_view a, std::string_view b);

 private:
  struct Raw {
    uint64_t start;
    uint64_t size;
    std::string_view name;
    Binding binding;
    bool function;
    uint32_t underscores;  // that the name begins with
  };
  static bool before(const Raw& a, const Raw& b);
  void keep_one_per_address();
  void keep_inside(const std::vector<Range>& regions);
  void drop_covered_labels();
  std::vector<uint32_t> put_names(std::string& names) const;

  std::vector<Raw> raw_;
};

}  // namespace a2n

#endif  // A2N_SYMBOL_TABLE_H
