// SPDX-License-Identifier: MIT
#include "object_ids.h"

#include <algorithm>
#include <bit>

namespace hdump {
namespace {

constexpr uint64_t group_size = 8;  // objects in a group, on average
// find() asks the memory for what it needs this many ids before.
constexpr size_t groups_ahead = 24;
constexpr size_t rests_ahead = 12;

}  // namespace

pi::Result<ObjectIds> ObjectIds::Builder::finish() {
  if (const auto status = sorter_.finish(); !status) return status.error();
  ObjectIds ids;
  ids.lowest_ = lowest_;
  ids.highest_ = highest_;
  ids.step_ = differ_ == 0 ? 0 : static_cast<unsigned>(std::countr_zero(differ_));
  const uint64_t range = ids.offset(highest_);
  // At least two, so that shifting by 63 bits suffices.
  while (range >> ids.group_shift_ >= size() / group_size + 2) ++ids.group_shift_;
  auto groups = DiskArray<Node>::make(space_, (range >> ids.group_shift_) + 2);
  if (!groups) return groups.error();
  const uint64_t rest = (uint64_t{1} << ids.group_shift_) - 1;
  auto rests = NumberArray::make(space_, size(), rest);
  if (!rests) return rests.error();
  uint64_t next_group = 0;
  Id before = 0;
  for (;;) {
    const auto sorted = sorter_.next();
    if (!sorted) return sorted.error();
    if (sorted->empty()) break;
    for (const Id id : *sorted) {
      if (ids.size_ != 0 && id == before) continue;
      before = id;
      const uint64_t offset = ids.offset(id);
      while (next_group <= offset >> ids.group_shift_) (*groups)[next_group++] = ids.size_;
      rests->set(ids.size_++, offset & rest);
    }
  }
  while (next_group < groups->size()) (*groups)[next_group++] = ids.size_;
  ids.groups_ = std::move(*groups);
  ids.rests_ = std::move(*rests);
  return ids;
}

Node ObjectIds::rank(Id id) const {
  if (!possible(id)) return no_node;
  const uint64_t offset = this->offset(id);
  const uint64_t rest = offset & ((uint64_t{1} << group_shift_) - 1);
  Node begin = groups_[offset >> group_shift_];
  Node left = groups_[(offset >> group_shift_) + 1] - begin;
  const Node end = begin + left;
  while (left > 0) {
    const Node half = left / 2;
    const bool higher = rests_[begin + half] < rest;
    begin = higher ? begin + half + 1 : begin;
    left = higher ? left - half - 1 : half;
  }
  return begin != end && rests_[begin] == rest ? begin : no_node;
}

void ObjectIds::find(std::span<const Id> ids, Node* nodes) const {
  for (size_t i = 0; i < ids.size() + groups_ahead; ++i) {
    if (i < ids.size() && possible(ids[i]))
      __builtin_prefetch(&groups_.data()[offset(ids[i]) >> group_shift_]);
    if (i >= rests_ahead && i - rests_ahead < ids.size())
      if (const Id id = ids[i - rests_ahead]; possible(id))
        rests_.prefetch(groups_[offset(id) >> group_shift_]);
    if (i >= groups_ahead) nodes[i - groups_ahead] = rank(ids[i - groups_ahead]);
  }
}

Id ObjectIds::id(Node node) const {
  const auto group = std::ranges::upper_bound(groups_, node) - groups_.begin() - 1;
  return lowest_ + ((static_cast<uint64_t>(group) << group_shift_ | rests_[node]) << step_);
}

}  // namespace hdump
