// SPDX-License-Identifier: MIT
// Sums by key and time.
#include "time_sums.h"

#include <algorithm>
#include <array>
#include <utility>

namespace post {
namespace {

using Sum = TimeSums::Sum;

bool is_before(const Sum& a, const Sum& b) {
  return a.key != b.key ? a.key < b.key : a.first < b.first;
}

constexpr unsigned digit_bits = 11;
constexpr size_t digit_values = 1 << digit_bits;

// Sorts by the digit of the keys that begins at a bit; equal ones stay in their order.
void sort_by_digit(const std::vector<Sum>& from, std::span<Sum> to, unsigned bit) {
  std::array<size_t, digit_values> place{};
  const auto digit = [bit](const Sum& sum) { return sum.key >> bit & (digit_values - 1); };
  for (const Sum& sum : from) ++place[digit(sum)];
  size_t end = 0;
  for (size_t& of_digit : place) end += std::exchange(of_digit, end);
  for (const Sum& sum : from) to[place[digit(sum)]++] = sum;
}

}  // namespace

// Many are sorted by key without comparisons; those of a key come nearly in the order of time.
void sort_sums(std::span<Sum> sums) {
  if (sums.size() < digit_values) {
    std::ranges::sort(sums, is_before);
    return;
  }
  uint32_t bits = 0;
  for (const Sum& sum : sums) bits |= sum.key;
  std::vector<Sum> before;
  for (unsigned bit = 0; bit < 32 && bits >> bit != 0; bit += digit_bits) {
    before.assign(sums.begin(), sums.end());
    sort_by_digit(before, sums, bit);
  }
  for (size_t at = 0, end = 0; at < sums.size(); at = end) {
    while (end < sums.size() && sums[end].key == sums[at].key) ++end;
    const std::span<Sum> of_key = sums.subspan(at, end - at);
    if (!std::ranges::is_sorted(of_key, is_before)) std::ranges::sort(of_key, is_before);
  }
}

void TimeSums::add(uint64_t time, uint32_t key, uint64_t amount) {
  widen(time >> shift_, time >> shift_);
  const uint64_t bin = time >> shift_;
  const size_t slot = ((bin ^ uint64_t{key} << 20) * 0x9e3779b97f4a7c15ull >> 40) % recent_sums;
  Recent& recent = recent_[slot];
  if (recent.key == key && recent.bin == bin) {
    recent.amount += amount;
    return;
  }
  const Recent before = std::exchange(recent, {bin, amount, key});
  if (before.amount != 0) put(before.key, before.bin, before.bin, before.amount);
}

// All amounts are among the sums then, in the bins that these have now.
void TimeSums::put_recent() {
  for (Recent& recent : recent_) {
    if (recent.amount != 0) sums_.push_back({recent.key, recent.bin, recent.bin, recent.amount});
    recent = {};
  }
}

void TimeSums::add_span(uint64_t from, uint64_t to, uint32_t key) {
  if (from >= to) return;
  widen(from >> shift_, (to - 1) >> shift_);
  const uint64_t length = uint64_t{1} << shift_;
  uint64_t first = from >> shift_;
  uint64_t end = to >> shift_;  // of the whole bins
  if (first == end) return put(key, first, first, to - from);
  const uint64_t before = from & (length - 1), after = to & (length - 1);
  // put() can make bins longer: then the rest is added anew.
  const unsigned shift = shift_;
  if (before != 0) {
    put(key, first, first, length - before);
    ++first;
    if (shift_ != shift) return add_span(first << shift, to, key);
  }
  if (first < end) {
    put(key, first, end - 1, length);
    if (shift_ != shift) return add_span(end << shift, to, key);
  }
  if (after != 0) put(key, end, end, after);
}

// Makes the bins long enough for these.
void TimeSums::widen(uint64_t first, uint64_t last) {
  first_bin_ = std::min(first_bin_, first);
  last_bin_ = std::max(last_bin_, last);
  while (last_bin_ - first_bin_ >= limits_.bins) coarsen();
}

// After they were united.
size_t TimeSums::most_sums() const {
  size_t keys = 0;
  for (size_t i = 0; i < sums_.size(); ++i)
    if (i == 0 || sums_[i].key != sums_[i - 1].key) ++keys;
  return std::max(limits_.sums, 2 * keys);
}

void TimeSums::put(uint32_t key, uint64_t first, uint64_t last, uint64_t amount) {
  if (sums_.size() >= unite_at_) {
    const unsigned shift = shift_;
    unite();
    while (sums_.size() > most_sums() && first_bin_ != last_bin_) coarsen();
    unite_at_ = 2 * std::max(limits_.sums, sums_.size());
    if (shift_ != shift) {
      const unsigned more = shift_ - shift;
      return first == last ? put(key, first >> more, first >> more, amount)
                           : add_span(first << shift, (last + 1) << shift, key);
    }
  }
  sums_.push_back({key, first, last, amount});
}

// Joins pairs of bins. Of several bins with their whole length, the first and the last one can
// become halves of a bin.
void TimeSums::coarsen() {
  put_recent();
  const uint64_t length = uint64_t{1} << shift_++;
  first_bin_ >>= 1;
  last_bin_ >>= 1;
  const size_t count = sums_.size();
  for (size_t i = 0; i < count; ++i) {
    Sum sum = sums_[i];
    if (sum.first == sum.last) {
      sums_[i] = {sum.key, sum.first >> 1, sum.first >> 1, sum.amount};
      continue;
    }
    std::array<Sum, 3> parts;
    size_t made = 0;
    const auto add_half = [&](uint64_t bin) {
      parts[made++] = {sum.key, bin >> 1, bin >> 1, length};
    };
    if (sum.first % 2 == 1) add_half(sum.first++);
    const uint64_t end = sum.last + 1 - (sum.last + 1) % 2;  // of the whole new bins
    if (sum.first < end) parts[made++] = {sum.key, sum.first >> 1, (end >> 1) - 1, 2 * length};
    if (end <= sum.last) add_half(sum.last);
    sums_[i] = parts[0];
    sums_.insert(sums_.end(), parts.begin() + 1, parts.begin() + static_cast<std::ptrdiff_t>(made));
  }
  unite();
}

void TimeSums::coarsen_to(unsigned shift) {
  while (shift_ < shift) {
    coarsen();
  }
}

void TimeSums::unite() {
  put_recent();
  const auto middle = sums_.begin() + static_cast<std::ptrdiff_t>(united_);
  sort_sums(std::span(middle, sums_.end()));
  std::inplace_merge(sums_.begin(), middle, sums_.end(), is_before);
  size_t kept = 0;
  for (const Sum& sum : sums_) {
    Sum* const last = kept == 0 ? nullptr : &sums_[kept - 1];
    if (last && last->key == sum.key && last->first == sum.first && last->last == sum.last &&
        sum.first == sum.last)
      last->amount += sum.amount;
    else
      sums_[kept++] = sum;
  }
  sums_.resize(kept);
  united_ = kept;
}

const std::vector<TimeSums::Sum>& TimeSums::sums() {
  unite();
  return sums_;
}

}  // namespace post
