// SPDX-License-Identifier: MIT
#include "reference_pass.h"

namespace hdump {
namespace {

constexpr size_t batch = 128 << 10;  // ids that are looked up together

}  // namespace

ReferencePass::ReferencePass(Classes& classes, const ObjectIds& ids,
                             std::function<uint64_t(const Shape&)> bytes, uint32_t class_of_classes,
                             unsigned id_size, ObjectRecords::Writer& records)
    : classes_(classes),
      ids_(ids),
      bytes_(std::move(bytes)),
      class_of_classes_(class_of_classes),
      id_size_(id_size),
      records_(records),
      totals_(classes.size()) {}

void ReferencePass::class_dump(const ClassDump& dump) {
  // Classes come first, wherever they are in the heap.
  begin(dump.id, {class_of_classes_, classes_[number(dump.id)].static_bytes}, false);
  for (const Id id : {dump.super, dump.loader, dump.signers, dump.domain}) add(id);
  for (const StaticField& field : dump.statics)
    if (field.type == Type::object) add(field.value);
}

void ReferencePass::instance(Id id, Id class_id, std::span<const std::byte> fields) {
  const Known& cls = known(class_id, fields.size());
  begin(id, {cls.cls, 0});
  if (cls.references == nullptr) {
    ++misfits_;
    return;
  }
  for (const Classes::Reference& reference : *cls.references)
    add(load_id(fields.data() + reference.offset, id_size_));
}

void ReferencePass::object_array(Id id, Id class_id, uint32_t length) {
  begin(id, {number(class_id), length});
}

void ReferencePass::elements(std::span<const std::byte> ids) {
  // The ids of a file that has changed meanwhile may have other sizes.
  for (size_t at = 0; at + id_size_ <= ids.size(); at += id_size_) {
    if (collected_.ids.size() >= batch) {
      hand_over();
      collected_.parts.push_back({});
    }
    add(load_id(ids.data() + at, id_size_));
  }
}

void ReferencePass::primitive_array(Id id, Type type, uint32_t length) {
  begin(id, {Classes::of_primitive_array(type), length});
}

void ReferencePass::begin(Id id, const Shape& shape, bool in_order) {
  if (collected_.ids.size() >= batch) hand_over();
  collected_.parts.push_back({.shape = shape, .begins = true, .in_order = in_order});
  collected_.ids.push_back(id);
}

const ReferencePass::Known& ReferencePass::known(Id class_id, size_t bytes) {
  Known& entry = known_[(class_id >> 3 ^ class_id >> 11) % known_.size()];
  if (entry.class_id != class_id || entry.bytes != bytes || entry.cls == no_class) {
    const uint32_t cls = number(class_id);
    entry = {class_id, bytes, cls, classes_.references(cls, bytes)};
  }
  return entry;
}

void ReferencePass::hand_over() {
  background_.wait();
  std::swap(collected_, stored_);
  collected_.parts.clear();
  collected_.ids.clear();
  background_.add([this] { store(stored_); });
}

void ReferencePass::store(const Batch& batch) {
  nodes_.resize(batch.ids.size());
  ids_.find(batch.ids, nodes_.data());
  const Node* next = nodes_.data();
  for (const Part& part : batch.parts) {
    if (part.begins) {
      if (in_object_) records_.end();
      const Node node = *next++;
      in_object_ = node != no_node && records_.begin(node, part.shape, part.in_order);
      if (in_object_) {
        ++totals_[part.shape.cls].objects;
        totals_[part.shape.cls].bytes += bytes_(part.shape);
      }
    }
    for (const Node* end = next + part.references; next != end; ++next) {
      if (!in_object_) continue;
      if (*next == no_node)
        ++dangling_;
      else
        records_.add(*next);
    }
  }
}

void ReferencePass::finish() {
  background_.wait();
  store(collected_);
  collected_ = {};
  if (in_object_) records_.end();
  in_object_ = false;
}

}  // namespace hdump
