// SPDX-License-Identifier: MIT
// Tells symbols of one module apart that have the same name, such as static functions.
#ifndef A2N_DUPLICATE_NAMES_H
#define A2N_DUPLICATE_NAMES_H

#include <cstdint>
#include <map>
#include <unordered_map>

#include "table_part.h"

namespace a2n {

class DuplicateNames {
 public:
  // 1 for the first symbol of its name by address, 2 for the second and so on: it does not depend
  // on where the module was mapped.
  uint32_t ordinal(const TablePart& part, const Symbol& symbol);

 private:
  // By index of the symbol; those that are 1 are left out.
  std::map<TablePart, std::unordered_map<uint32_t, uint32_t>> ordinals_;
};

}  // namespace a2n

#endif  // A2N_DUPLICATE_NAMES_H
