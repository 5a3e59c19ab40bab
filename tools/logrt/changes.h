// SPDX-License-Identifier: MIT
// What changed from one call flow to another.
#ifndef LOGRT_CHANGES_H
#define LOGRT_CHANGES_H

#include <string>
#include <vector>

#include "totals.h"

namespace logrt {

struct Change {
  Total a, b;
  // Neither the number of calls changed, nor the metric by more than what calibration does not
  // know: the error bound of each call and return in A and in B.
  bool within_bound = false;

  // Exact up to 2^53; a double, since the difference of any two sums fits.
  double base() const { return static_cast<double>(b.base) - static_cast<double>(a.base); }
};

// Returns why two call flows cannot be compared; "" if they can.
std::string incomparable(const CallFlow& a, const CallFlow& b);

// The largest changes first, those within the bound last.
std::vector<Change> changes(const Totals& a, const Totals& b, double bound_of_a, double bound_of_b);

}  // namespace logrt

#endif  // LOGRT_CHANGES_H
