// SPDX-License-Identifier: MIT
// Finds the rectangle (address range and time range) that contains an address and a time. The
// rectangles do not overlap.
#include "rectangle_index.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace a2n {

RectangleIndex::RectangleIndex(std::vector<Rectangle> rectangles)
    : rectangles_(std::move(rectangles)) {
  if (rectangles_.empty()) return;
  // With the rectangles sorted, every list is filled in time order.
  std::sort(rectangles_.begin(), rectangles_.end(),
            [](const Rectangle& a, const Rectangle& b) { return a.from < b.from; });
  cut_into_pieces();
  std::vector<uint32_t> counts(first_items_.size());
  for (const Rectangle& rectangle : rectangles_)
    for_nodes(rectangle, [&](size_t node) { ++counts[node]; });
  uint32_t items = 0;
  for (size_t node = 0; node < counts.size(); ++node) {
    first_items_[node] = items;
    items += std::exchange(counts[node], items);
  }
  items_.resize(items);
  for (uint32_t i = 0; i < rectangles_.size(); ++i)
    for_nodes(rectangles_[i], [&](size_t node) {
      items_[counts[node]++] = {rectangles_[i].until, i};
    });
  link_lists();
  bounds_ = {};
}

void RectangleIndex::cut_into_pieces() {
  bounds_.reserve(2 * rectangles_.size());
  for (const Rectangle& rectangle : rectangles_) {
    bounds_.push_back(rectangle.begin);
    bounds_.push_back(rectangle.end);
  }
  std::sort(bounds_.begin(), bounds_.end());
  bounds_.erase(std::unique(bounds_.begin(), bounds_.end()), bounds_.end());
  begin_ = bounds_.front();
  end_ = bounds_.back();
  leaves_ = std::bit_ceil(bounds_.size() - 1);
  first_items_.resize(2 * leaves_ + 1);
  middles_.resize(leaves_);
  const auto bound = [this](size_t piece) {
    return piece < bounds_.size() ? bounds_[piece] : UINT64_MAX;
  };
  for (size_t node = 1, width = leaves_; node < leaves_; ++node) {
    if (std::has_single_bit(node) && node != 1) width /= 2;
    const size_t position = node - std::bit_floor(node);
    middles_[node] = bound(position * width + width / 2);
  }
}

void RectangleIndex::link_lists() {
  listed_.resize(2 * leaves_);
  for (size_t node = 1; node < listed_.size(); ++node)
    listed_[node] = first_items_[node] != first_items_[node + 1] ? static_cast<uint32_t>(node)
                                                                 : listed_[node / 2];
}

template <class Use>
void RectangleIndex::for_nodes(const Rectangle& rectangle, Use use) const {
  const auto piece = [this](uint64_t address) {
    return static_cast<size_t>(std::lower_bound(bounds_.begin(), bounds_.end(), address) -
                               bounds_.begin());
  };
  size_t left = leaves_ + piece(rectangle.begin);
  size_t right = leaves_ + piece(rectangle.end);
  for (; left < right; left /= 2, right /= 2) {
    if (left % 2 != 0) use(left++);
    if (right % 2 != 0) use(--right);
  }
}

// The rectangle of the node's list that contains time, or null.
const Rectangle* RectangleIndex::at(size_t node, uint64_t time) const {
  const auto* const first = items_.data() + first_items_[node];
  const auto* const last = items_.data() + first_items_[node + 1];
  const auto* const found =
      std::partition_point(first, last, [&](const Item& item) { return item.until <= time; });
  if (found == last || rectangles_[found->rectangle].from > time) return nullptr;
  return &rectangles_[found->rectangle];
}

const Rectangle* RectangleIndex::find(uint64_t address, uint64_t time) const {
  if (address < begin_ || address >= end_) return nullptr;
  size_t node = 1;
  while (node < leaves_) {
    // The eight descendants three levels below are adjacent in memory.
    __builtin_prefetch(middles_.data() + std::min(8 * node, leaves_ - 1));
    node = 2 * node + (address >= middles_[node] ? 1 : 0);
  }
  for (node = listed_[node]; node != 0; node = listed_[node / 2])
    if (const Rectangle* found = at(node, time)) return found;
  return nullptr;
}

}  // namespace a2n
