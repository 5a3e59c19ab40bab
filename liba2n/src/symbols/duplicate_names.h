// SPDX-License-Identifier: MIT
// Numbers symbols of one module that have the same name, such as static functions.
#ifndef A2N_DUPLICATE_NAMES_H
#define A2N_DUPLICATE_NAMES_H

#include <cstdint>
#include <map>
#include <unordered_map>

#include "table_part.h"

namespace a2n {

class DuplicateNames {
 public:
  // 1 for the first symbol with its name in address order, 2 for the second, and so on. The number
  // does not depend on where the module was mapped.
  uint32_t ordinal(const TablePart& part, const Symbol& symbol);

 private:
  // By symbol index; an ordinal of 1 is not stored.
  std::map<TablePart, std::unordered_map<uint32_t, uint32_t>> ordinals_;
};

}  // namespace a2n

#endif  // A2N_DUPLICATE_NAMES_H
