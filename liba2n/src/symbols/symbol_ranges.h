// SPDX-License-Identifier: MIT
// Ranges of symbols that are reported as one.
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
  Range addresses;  // as the table's
  std::string name;
};

class SymbolRanges {
 public:
  // From the symbol first to the symbol last, both included, of the module of that path or last
  // component of a path. An empty name becomes "FIRST..LAST".
  void add(std::string module, std::string first, std::string last, std::string name);

  // Lines "MODULE FIRST LAST [NAME]", those beginning with # and empty ones aside. All or nothing.
  pi::Status read(const std::string& path);

  bool empty() const { return rules_.empty(); }

  // The range an address of the module belongs to (the first one told), or null. A note tells of a
  // range whose symbols the module does not have.
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
