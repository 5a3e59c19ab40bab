// SPDX-License-Identifier: MIT
// Sums by row and bin in the data of the HTML page.
#ifndef POST_HTML_SUMS_H
#define POST_HTML_SUMS_H

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "analysis/time_sums.h"
#include "html_columns.h"

namespace post {

using Sums = std::vector<TimeSums::Sum>;

constexpr uint32_t no_row = UINT32_MAX;

// Adds up sums of equal keys and bins, and puts them in order.
void unite_sums(Sums& sums);

// The sums with the rows to which their keys belong (no_row: none), by row and bin, each once.
template <class RowOf>
Sums by_row(const Sums& sums, RowOf row_of) {
  Sums rows;
  for (const TimeSums::Sum& sum : sums)
    if (const uint32_t row = row_of(sum.key); row != no_row)
      rows.push_back({row, sum.first, sum.last, sum.amount});
  unite_sums(rows);
  return rows;
}

// The rows of keys in their order.
std::map<uint32_t, uint32_t> rows_of(const Sums& sums);

// Writes the number of sums of each row, then of each sum the distance from the bin of the one
// before, the number of its bins (if some have several) and what is in each of them.
void write_sums(HtmlColumns& out, const Sums& sums, size_t rows, uint64_t first_bin,
                bool with_length);

}  // namespace post

#endif  // POST_HTML_SUMS_H
