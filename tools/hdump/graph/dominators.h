// SPDX-License-Identifier: MIT
// The dominator tree of a heap: which object keeps which others alive, and how many bytes.
#ifndef HDUMP_GRAPH_DOMINATORS_H
#define HDUMP_GRAPH_DOMINATORS_H

#include <cstdint>
#include <functional>

#include "disk_array.h"
#include "heap_graph.h"

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
  Place place(Node node) const { return place_[node]; }  // 0 if no root reaches it
  // The last object that all ways from the roots to this one have in common, lower than place.
  Place dominator(Place place) const { return dominator_[place]; }
  // The bytes of this object and of all below it: they are freed if it goes.
  uint64_t retained(Place place) const { return retained_[place]; }

 private:
  pi::Status search(const HeapGraph& graph, const DiskSpace& space, const Progress& progress);
  pi::Status find_sources(const HeapGraph& graph, const DiskSpace& space);
  pi::Status find_dominators(const DiskSpace& space, const Progress& progress);
  pi::Status add_sizes(const HeapGraph& graph, const DiskSpace& space);

  DiskArray<Place> place_;      // by node
  DiskArray<Node> node_;        // by place
  DiskArray<Place> parent_;     // by place: in the search tree
  DiskArray<uint32_t> begin_;   // by place: of its sources; one more element at the end
  DiskArray<Place> sources_;    // the objects that refer to it; none for roots
  DiskArray<Place> dominator_;  // by place
  DiskArray<uint64_t> retained_;
};

}  // namespace hdump

#endif  // HDUMP_GRAPH_DOMINATORS_H
