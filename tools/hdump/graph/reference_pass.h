// SPDX-License-Identifier: MIT
// The second reading of a dump: the record of each object, with the objects that it refers to.
#ifndef HDUMP_GRAPH_REFERENCE_PASS_H
#define HDUMP_GRAPH_REFERENCE_PASS_H

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "background.h"
#include "classes.h"
#include "object_ids.h"
#include "object_records.h"

namespace hdump {

struct ClassSum {
  uint64_t objects = 0;
  uint64_t bytes = 0;
};

// Collects references in batches; a second thread finds the objects of one batch while the next is
// read.
class ReferencePass final : public Visitor {
 public:
  // classes: complete. bytes: of an object.
  ReferencePass(Classes& classes, const ObjectIds& ids, std::function<uint64_t(const Shape&)> bytes,
                uint32_t class_of_classes, unsigned id_size, ObjectRecords::Writer& records);

  void class_dump(const ClassDump& dump) override;
  void instance(Id id, Id class_id, std::span<const std::byte> fields) override;
  void object_array(Id id, Id class_id, uint32_t length) override;
  void elements(std::span<const std::byte> ids) override;
  void primitive_array(Id id, Type type, uint32_t length) override;

  // To be called after the last record, before what follows.
  void finish();
  // References whose target is not in the dump; objects whose class does not fit them.
  uint64_t dangling() const { return dangling_; }
  uint64_t misfits() const { return misfits_; }
  // By number of class.
  const std::vector<ClassSum>& totals() const { return totals_; }

 private:
  // An object, or what else an array has, in a batch.
  struct Part {
    Shape shape;
    uint32_t references = 0;
    bool begins = false;  // its own id is before those of its references
    bool in_order = true;
  };
  struct Batch {
    std::vector<Part> parts;
    std::vector<Id> ids;
  };
  // What objects of a class with some bytes of fields have.
  struct Known {
    Id class_id = 0;
    size_t bytes = SIZE_MAX;
    uint32_t cls = no_class;
    const std::vector<Classes::Reference>* references = nullptr;
  };

  void begin(Id id, const Shape& shape, bool in_order = true);
  void add(Id id) {
    if (id == 0) return;
    collected_.ids.push_back(id);
    ++collected_.parts.back().references;
  }
  // That of java.lang.Class if the dump did not have the class when it was read first.
  uint32_t number(Id class_id) const {
    return classes_.find(class_id).value_or(Classes::of_classes);
  }
  const Known& known(Id class_id, size_t bytes);
  void hand_over();
  void store(const Batch& batch);

  Classes& classes_;
  const ObjectIds& ids_;
  std::function<uint64_t(const Shape&)> bytes_;
  uint32_t class_of_classes_;
  unsigned id_size_;
  std::array<Known, 256> known_;
  Batch collected_;
  uint64_t misfits_ = 0;
  // Of the second thread until finish().
  ObjectRecords::Writer& records_;
  Batch stored_;
  std::vector<Node> nodes_;
  bool in_object_ = false;  // a record has been begun
  uint64_t dangling_ = 0;
  std::vector<ClassSum> totals_;
  Background background_;
};

}  // namespace hdump

#endif  // HDUMP_GRAPH_REFERENCE_PASS_H
