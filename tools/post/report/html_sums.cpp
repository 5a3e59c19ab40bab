// SPDX-License-Identifier: MIT
// Sums by row and bin in the data of the HTML page.
#include "html_sums.h"

#include <utility>

namespace post {

void unite_sums(Sums& sums) {
  sort_sums(sums);
  size_t kept = 0;
  for (const TimeSums::Sum& sum : sums) {
    TimeSums::Sum* const before = kept == 0 ? nullptr : &sums[kept - 1];
    if (before && before->key == sum.key && before->first == sum.first && before->last == sum.last)
      before->amount += sum.amount;
    else
      sums[kept++] = sum;
  }
  sums.resize(kept);
}

std::map<uint32_t, uint32_t> rows_of(const Sums& sums) {
  std::map<uint32_t, uint32_t> rows;
  for (const TimeSums::Sum& sum : sums)
    rows.try_emplace(sum.key, static_cast<uint32_t>(rows.size()));
  return rows;
}

void write_sums(HtmlColumns& out, const Sums& sums, size_t rows, uint64_t first_bin,
                bool with_length) {
  std::vector<size_t> count(rows);
  for (const TimeSums::Sum& sum : sums) ++count[sum.key];
  out.numbers("sums", count, [](size_t number) { return number; });
  uint64_t before = 0;
  uint32_t row = no_row;
  out.numbers("skip", sums, [&](const TimeSums::Sum& sum) {
    if (sum.key != row) before = first_bin;
    row = sum.key;
    return sum.first - std::exchange(before, sum.first);
  });
  if (with_length)
    out.numbers("length", sums, [](const TimeSums::Sum& sum) { return sum.last - sum.first + 1; });
  out.numbers("amount", sums, [](const TimeSums::Sum& sum) { return sum.amount; });
}

}  // namespace post
