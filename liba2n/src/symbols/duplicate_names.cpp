// SPDX-License-Identifier: MIT
// Numbers symbols of one module that have the same name.
#include "duplicate_names.h"

#include <string_view>

namespace a2n {

uint32_t DuplicateNames::ordinal(const TablePart& part, const Symbol& symbol) {
  const auto [entry, added] = ordinals_.try_emplace(part);
  auto& later = entry->second;
  if (added) {
    std::unordered_map<std::string_view, uint32_t> seen;
    const SymbolTable& table = *part.table;
    for (uint32_t i = 0; i < table.size(); ++i) {
      if (!part.contains(i)) continue;
      if (const uint32_t count = ++seen[table.name(table[i])]; count > 1) later.emplace(i, count);
    }
  }
  const auto found = later.find(part.table->index(symbol));
  return found == later.end() ? 1 : found->second;
}

}  // namespace a2n
