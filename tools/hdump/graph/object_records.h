// SPDX-License-Identifier: MIT
// The class, length and references of each object, in few bytes, in a work file.
#ifndef HDUMP_GRAPH_OBJECT_RECORDS_H
#define HDUMP_GRAPH_OBJECT_RECORDS_H

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "disk_array.h"
#include "object_ids.h"
#include "varint.h"

namespace hdump {

struct Shape {
  uint32_t cls = 0;     // a number of Classes
  uint32_t length = 0;  // of an array; the bytes of a class's static fields; else 0
};

// A record is its class and length, then the targets of its references, each as the difference to
// the one before, the first to the object itself.
class ObjectRecords {
 public:
  class Writer;

  // The targets that are left of an object's record.
  class Targets {
   public:
    bool left() const { return left_; }
    // Only if some are left.
    Node next() {
      const uint64_t number = take_varint(at_);
      left_ = (number & 1) != 0;
      return before_ += static_cast<Node>(signed_of(number >> 1));
    }

   private:
    friend class ObjectRecords;
    const std::byte* at_ = nullptr;
    Node before_ = 0;
    bool left_ = false;
  };
  struct Record {
    Shape shape;
    Targets targets;
  };

  Record operator[](Node node) const;
  // Asks the memory for what operator[] reads first.
  void prefetch(Node node) const { __builtin_prefetch(&starts_[node]); }

 private:
  // Most objects of a block of 64 come one after the other in the dump, as the dump is in the order
  // of the ids, or in a few parts that are: so the distance from the first one suffices.
  static constexpr unsigned block_shift = 6;
  static constexpr uint16_t no_record = 0;
  static constexpr uint16_t far = UINT16_MAX;

  DiskArray<std::byte> bytes_;
  DiskArray<uint64_t> blocks_;  // 1 + where the first record of each block is; 0 without any
  DiskArray<uint16_t> starts_;  // by object: 1 + the distance from there
  // Where the other records are.
  std::unordered_map<Node, uint64_t> far_;
  DiskArray<uint64_t> all_far_;  // by object, if they are many
};

class ObjectRecords::Writer {
 public:
  static pi::Result<Writer> make(const DiskSpace& space, Node objects);

  // Begins the record of an object; false, and nothing happens, if it has one. in_order: it is not
  // apart from its neighbours in the dump.
  bool begin(Node node, const Shape& shape, bool in_order);
  void add(Node target);
  void end();
  uint64_t targets() const { return targets_; }
  pi::Result<ObjectRecords> finish();

 private:
  Writer(const DiskSpace& space, ObjectRecords records)
      : space_(&space), bytes_(space), records_(std::move(records)) {}
  void put(uint64_t number);
  void put_head(bool has_targets);
  void put_pending(bool more);
  void set_far(Node node, uint64_t position);

  const DiskSpace* space_;
  DiskAppender<std::byte> bytes_;
  ObjectRecords records_;
  // Of the current object.
  Shape shape_;
  bool has_head_ = false;
  Node before_ = 0;
  Node pending_ = 0;  // the last target, of which it is not known whether more follow
  uint64_t targets_ = 0;
  std::optional<pi::Error> error_;
};

}  // namespace hdump

#endif  // HDUMP_GRAPH_OBJECT_RECORDS_H
