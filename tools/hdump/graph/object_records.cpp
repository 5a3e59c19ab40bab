// SPDX-License-Identifier: MIT
#include "object_records.h"

namespace hdump {
namespace {

// Bits at the beginning of a record, below the number of its class.
constexpr uint64_t has_targets = 1;
constexpr uint64_t has_length = 2;
constexpr unsigned class_shift = 2;

// So many single places of records, and more for many objects, are kept in memory.
constexpr size_t few_far = 4096;
constexpr size_t objects_per_far = 64;

}  // namespace

ObjectRecords::Record ObjectRecords::operator[](Node node) const {
  const uint16_t start = starts_[node];
  Record record;
  if (start == no_record) return record;
  uint64_t position = blocks_[node >> block_shift] + start - 2;
  if (start == far) position = all_far_.empty() ? far_.at(node) : all_far_[node];
  const std::byte* at = bytes_.data() + position;
  const uint64_t head = take_varint(at);
  record.shape.cls = static_cast<uint32_t>(head >> class_shift);
  if ((head & has_length) != 0) record.shape.length = static_cast<uint32_t>(take_varint(at));
  record.targets.at_ = at;
  record.targets.before_ = node;
  record.targets.left_ = (head & has_targets) != 0;
  return record;
}

pi::Result<ObjectRecords::Writer> ObjectRecords::Writer::make(const DiskSpace& space,
                                                              Node objects) {
  ObjectRecords records;
  auto blocks = DiskArray<uint64_t>::make(space, (uint64_t{objects} >> block_shift) + 1);
  if (!blocks) return blocks.error();
  records.blocks_ = std::move(*blocks);
  auto starts = DiskArray<uint16_t>::make(space, objects);
  if (!starts) return starts.error();
  records.starts_ = std::move(*starts);
  return Writer(space, std::move(records));
}

bool ObjectRecords::Writer::begin(Node node, const Shape& shape, bool in_order) {
  uint16_t& start = records_.starts_[node];
  if (start != no_record) return false;
  const uint64_t position = bytes_.size();
  uint64_t& block = records_.blocks_[node >> block_shift];
  if (block == 0 && in_order) block = position + 1;
  start = far;
  if (block != 0 && position + 2 - block < far)
    start = static_cast<uint16_t>(position + 2 - block);
  else
    set_far(node, position);
  shape_ = shape;
  has_head_ = false;
  before_ = node;
  return true;
}

void ObjectRecords::Writer::set_far(Node node, uint64_t position) {
  if (records_.all_far_.empty()) {
    records_.far_[node] = position;
    const uint64_t objects = records_.starts_.size();
    if (records_.far_.size() < few_far + objects / objects_per_far || error_) return;
    auto all = DiskArray<uint64_t>::make(*space_, objects);
    if (!all) {
      error_ = all.error();
      return;
    }
    for (const auto& [each, at] : records_.far_) (*all)[each] = at;
    records_.far_ = {};
    records_.all_far_ = std::move(*all);
  }
  records_.all_far_[node] = position;
}

void ObjectRecords::Writer::put(uint64_t number) {
  std::byte bytes[longest_varint];
  bytes_.append({bytes, put_varint(bytes, number)});
}

void ObjectRecords::Writer::put_head(bool targets) {
  put(uint64_t{shape_.cls} << class_shift | (shape_.length != 0 ? has_length : 0) |
      (targets ? has_targets : 0));
  if (shape_.length != 0) put(shape_.length);
  has_head_ = true;
}

void ObjectRecords::Writer::put_pending(bool more) {
  put(unsigned_of(int64_t{pending_} - int64_t{before_}) << 1 | (more ? 1 : 0));
  before_ = pending_;
}

void ObjectRecords::Writer::add(Node target) {
  if (has_head_)
    put_pending(true);
  else
    put_head(true);
  pending_ = target;
  ++targets_;
}

void ObjectRecords::Writer::end() {
  if (has_head_)
    put_pending(false);
  else
    put_head(false);
}

pi::Result<ObjectRecords> ObjectRecords::Writer::finish() {
  if (error_) return *error_;
  auto bytes = bytes_.finish();
  if (!bytes) return bytes.error();
  records_.bytes_ = std::move(*bytes);
  return std::move(records_);
}

}  // namespace hdump
