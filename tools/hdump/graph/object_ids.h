// SPDX-License-Identifier: MIT
// The ids of all objects, in few bytes: an object's number is the rank of its id.
#ifndef HDUMP_GRAPH_OBJECT_IDS_H
#define HDUMP_GRAPH_OBJECT_IDS_H

#include <cstdint>
#include <optional>
#include <span>

#include "number_array.h"
#include "number_sorter.h"
#include "read/hprof.h"

namespace hdump {

// Objects have numbers from 0, in the order of their ids; classes are objects too.
using Node = uint32_t;
constexpr Node no_node = UINT32_MAX;

class ObjectIds {
 public:
  // Collects the ids of objects in any order.
  class Builder {
   public:
    explicit Builder(const DiskSpace& space) : space_(space), sorter_(space) {}
    void add(Id id) {
      sorter_.add(id);
      lowest_ = id < lowest_ ? id : lowest_;
      highest_ = id > highest_ ? id : highest_;
      first_ = sorter_.size() == 1 ? id : first_;
      differ_ |= id ^ first_;
    }
    uint64_t size() const { return sorter_.size(); }
    Id lowest() const { return lowest_; }
    Id highest() const { return highest_; }
    // Ids that came several times count once.
    pi::Result<ObjectIds> finish();

   private:
    const DiskSpace& space_;
    NumberSorter sorter_;
    Id lowest_ = UINT64_MAX;
    Id highest_ = 0;
    Id first_ = 0;
    Id differ_ = 0;  // the bits that are not the same in all ids
  };

  Node size() const { return size_; }
  std::optional<Node> find(Id id) const {
    const Node node = rank(id);
    return node == no_node ? std::nullopt : std::optional(node);
  }
  // nodes[i] becomes the object with ids[i], or no_node. Faster than one after the other.
  void find(std::span<const Id> ids, Node* nodes) const;
  Id id(Node node) const;

 private:
  // An id is lowest_ + (its group << group_shift_ | its rest) << step_.
  uint64_t offset(Id id) const { return (id - lowest_) >> step_; }
  bool possible(Id id) const {
    return id >= lowest_ && id <= highest_ && (id - lowest_) << (63 - step_) << 1 == 0;
  }
  Node rank(Id id) const;

  Id lowest_ = 0;
  Id highest_ = 0;
  unsigned step_ = 0;         // all ids differ by multiples of 1 << step_
  unsigned group_shift_ = 0;  // objects whose offset begins with the same bits follow each other
  Node size_ = 0;
  DiskArray<Node> groups_;  // where each group begins; one more at the end
  NumberArray rests_;       // by object
};

}  // namespace hdump

#endif  // HDUMP_GRAPH_OBJECT_IDS_H
