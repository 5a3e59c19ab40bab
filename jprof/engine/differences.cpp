// SPDX-License-Identifier: MIT
// The differences of one sequence and metric: minimum and histogram.
#include <algorithm>
#include <bit>

#include "recording.h"

namespace pi::callflow {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

// Buckets of one unit up to 128 units, and from there of a 64th of the minimum: a clock that counts
// in steps of 20 needs no bucket for each unit.
uint32_t width_bits_for(uint64_t minimum) {
  const uint64_t width = minimum / Differences::buckets;
  return width < 2 ? 0 : static_cast<uint32_t>(std::bit_width(width)) - 1;
}

}  // namespace

void Differences::add_difference(uint64_t difference, bool first) {
  if (first || difference < minimum.load(relaxed)) {
    minimum.store(difference, relaxed);
    if (first) {
      origin.store(difference, relaxed);
      width_bits.store(width_bits_for(difference), relaxed);
    } else {
      move_origin(difference);
    }
  }
  const uint64_t bucket = (difference - origin.load(relaxed)) >> width_bits.load(relaxed);
  add(histogram[std::min<uint64_t>(bucket, buckets - 1)], 1);
}

void Differences::move_origin(uint64_t difference) {
  std::array<uint64_t, buckets> moved{};
  const uint64_t from = origin.load(relaxed);
  const uint32_t bits = width_bits.load(relaxed);
  const uint32_t new_bits = width_bits_for(difference);
  for (size_t i = 0; i < buckets; ++i) {
    const uint64_t bucket = (from + (uint64_t{i} << bits) - difference) >> new_bits;
    moved[i == buckets - 1 ? i : std::min<uint64_t>(bucket, buckets - 1)] +=
        histogram[i].load(relaxed);
  }
  for (size_t i = 0; i < buckets; ++i) histogram[i].store(moved[i], relaxed);
  origin.store(difference, relaxed);
  width_bits.store(new_bits, relaxed);
}

}  // namespace pi::callflow
