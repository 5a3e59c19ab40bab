// SPDX-License-Identifier: MIT
// The entry that an address belongs to, in a list that is sorted by where its entries begin.
#ifndef A2N_LAST_AT_H
#define A2N_LAST_AT_H

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace a2n {

// The last one that begins at the address or before it; null without one.
template <class T>
const T* last_at(const std::vector<T>& sorted, uint64_t address, uint64_t T::*begin) {
  const auto after =
      std::upper_bound(sorted.begin(), sorted.end(), address,
                       [begin](uint64_t value, const T& entry) { return value < entry.*begin; });
  return after == sorted.begin() ? nullptr : &*std::prev(after);
}

}  // namespace a2n

#endif  // A2N_LAST_AT_H
