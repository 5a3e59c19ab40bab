// SPDX-License-Identifier: MIT
// The symbols of one module within a table: a file has a table of its own, the kernel and its
// modules share one.
#ifndef A2N_TABLE_PART_H
#define A2N_TABLE_PART_H

#include <cstdint>
#include <vector>

#include "symbol_table.h"

namespace a2n {

struct TablePart {
  const SymbolTable* table;
  // For each symbol of the table which module's it is; null when there is only one.
  const std::vector<uint32_t>* modules = nullptr;
  uint32_t module = 0;  // the one meant

  bool contains(uint32_t symbol) const { return !modules || (*modules)[symbol] == module; }
  static TablePart of(const SymbolTable& table, const std::vector<uint32_t>* modules,
                      const Symbol& symbol) {
    return {&table, modules, modules ? (*modules)[table.index(symbol)] : 0};
  }
  auto operator<=>(const TablePart&) const = default;
};

}  // namespace a2n

#endif  // A2N_TABLE_PART_H
