// SPDX-License-Identifier: MIT
// The dominator tree of a heap: which object keeps which others alive, and how many bytes.
#ifndef HDUMP_GRAPH_DOMINATORS_H
#define HDUMP_GRAPH_DOMINATORS_H

#include <cstdint>
#include <functional>

#include "disk_array.h"
#include "heap_graph.h"
#include "number_array.h"
#include "number_sorter.h"

namespace hdump {

// Places are the objects in the order in which a depth-first search from the roots reaches them,
// from 1. Place 0 stands for the roots together. Objects that no root reaches have no place.
using Place = uint32_t;

class Dominators {
 public:
  using Progress = std::function<void(const char* step, uint64_t done, uint64_t all)>;
  // Semi-NCA: L. Georgiadis, Linear-Time Algorithms for Dominators and Related Problems, 2005,
  // section 2.3. Its time is in practice proportional to the number of references.
  static pi::Result<Dominators> of(const HeapGraph& graph, const DiskSpace& space,
                                   const Progress& progress);

  // One more than the number of objects that a root reaches.
  Place size() const { return static_cast<Place>(dominator_.size()); }
  Node node(Place place) const { return node_[place]; }  // place > 0
  uint32_t cls(Place place) const {                      // a number of Classes; place > 0
    return static_cast<uint32_t>(cls_[place]);
  }
  // The last object that all ways from the roots to this one have in common, lower than place.
  Place dominator(Place place) const { return dominator_[place]; }
  // The bytes of this object and of all below it: they are freed if it goes.
  uint64_t retained(Place place) const { return retained_[place] << size_shift_; }

 private:
  class Search;

  pi::Status find_dominators(NumberSorter& references, const DiskSpace& space,
                             const Progress& progress);
  void add_sizes();

  DiskArray<Node> node_;  // by place
  NumberArray cls_;       // by place
  // By place: in the search tree, then in that of dominators.
  DiskArray<Place> dominator_;
  NumberArray retained_;  // by place: of itself, then of all below it too; in units
  unsigned size_shift_ = 0;
};

}  // namespace hdump

#endif  // HDUMP_GRAPH_DOMINATORS_H
