// SPDX-License-Identifier: MIT
// Ranges of symbols that are reported as one symbol.
#ifndef A2N_SYMBOL_RANGES_H
#define A2N_SYMBOL_RANGES_H

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/notes.h"
#include "pi/result.h"
#include "table_part.h"

namespace a2n {

struct SymbolRange {
  Range addresses;  // in the address space of the symbol table
  std::string name;
};

class SymbolRanges {
 public:
  // Adds the range from symbol first to symbol last, inclusive. module: a path, or only its last
  // component. An empty name becomes "FIRST..LAST".
  void add(std::string module, std::string first, std::string last, std::string name);

  // Reads lines "MODULE FIRST LAST [NAME]"; empty lines and lines that begin with # are ignored. On
  // an error no range is added.
  pi::Status read(const std::string& path);

  bool empty() const { return rules_.empty(); }

  // The range that contains an address of the module, or null. If ranges overlap, the one added
  // first is used. Adds a note for each range whose symbols the module does not have.
  const SymbolRange* find(std::string_view module, const TablePart& part, uint64_t address,
                          Notes& notes);

 private:
  struct Rule {
    std::string module;
    std::string first;
    std::string last;
    std::string name;
  };
  std::vector<SymbolRange> resolve(std::string_view module, const TablePart& part,
                                   Notes& notes) const;

  std::vector<Rule> rules_;
  std::map<TablePart, std::vector<SymbolRange>> resolved_;
};

}  // namespace a2n

#endif  // A2N_SYMBOL_RANGES_H
