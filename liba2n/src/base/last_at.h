// SPDX-License-Identifier: MIT
// Finds the entry for an address in a list that is sorted by start address.
#ifndef A2N_LAST_AT_H
#define A2N_LAST_AT_H

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace a2n {

// The last entry that begins at or before the address, or null. The caller checks its end.
template <class T>
const T* last_at(const std::vector<T>& sorted, uint64_t address, uint64_t T::*begin) {
  const auto after =
      std::upper_bound(sorted.begin(), sorted.end(), address,
                       [begin](uint64_t value, const T& entry) { return value < entry.*begin; });
  return after == sorted.begin() ? nullptr : &*std::prev(after);
}

}  // namespace a2n

#endif  // A2N_LAST_AT_H
