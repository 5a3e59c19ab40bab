// SPDX-License-Identifier: MIT
// The symbols of one module in a table: a file has its own table, the kernel and its modules share
// one.
#ifndef A2N_TABLE_PART_H
#define A2N_TABLE_PART_H

#include <cstdint>
#include <vector>

#include "symbol_table.h"

namespace a2n {

struct TablePart {
  const SymbolTable* table;
  // The module of each symbol of the table; null if all belong to the same module.
  const std::vector<uint32_t>* modules = nullptr;
  uint32_t module = 0;  // the module that this part represents

  bool contains(uint32_t symbol) const { return !modules || (*modules)[symbol] == module; }
  static TablePart of(const SymbolTable& table, const std::vector<uint32_t>* modules,
                      const Symbol& symbol) {
    return {&table, modules, modules ? (*modules)[table.index(symbol)] : 0};
  }
  auto operator<=>(const TablePart&) const = default;
};

}  // namespace a2n

#endif  // A2N_TABLE_PART_H
