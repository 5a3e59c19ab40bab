// SPDX-License-Identifier: MIT
// What follows from the dominator tree: totals of classes, and of ways through the tree by class.
#ifndef HDUMP_GRAPH_DOMINATOR_TREE_H
#define HDUMP_GRAPH_DOMINATOR_TREE_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dominators.h"
#include "heap_graph.h"

namespace hdump {

// The places that each place dominates directly.
class Children {
 public:
  static pi::Result<Children> of(const Dominators& dominators, const DiskSpace& space);
  std::span<const Place> of(Place place) const {
    return {list_.data() + begin_[place], list_.data() + begin_[place + 1]};
  }

 private:
  DiskArray<uint32_t> begin_;
  DiskArray<Place> list_;
};

struct ClassTotals {
  uint64_t objects = 0;
  uint64_t bytes = 0;
  // The bytes that are freed if all objects of the class go, at least: what two of them keep alive
  // together is missing. Exact if the class has one object.
  uint64_t retained = 0;
};
// By number of class.
pi::Result<std::vector<ClassTotals>> class_totals(const HeapGraph& graph,
                                                  const Dominators& dominators,
                                                  const Children& children, const DiskSpace& space);

// Objects with the same kinds of objects above them in the dominator tree. Several in a row of one
// kind, like elements of a list, count as one.
struct Way {
  uint32_t parent = 0;  // number of the way above; that of the roots is 0
  uint32_t kind = 0;    // see kind_of()
  uint32_t depth = 0;
  uint64_t objects = 0;
  uint64_t bytes = 0;     // of these objects
  uint64_t retained = 0;  // the same with all ways below
  bool cut = false;       // deeper objects are counted here
};
// Each way has a higher number than its parent.
pi::Result<std::vector<Way>> ways(const HeapGraph& graph, const Dominators& dominators,
                                  const DiskSpace& space);

// The number of an object's class; for a class as an object that class, with the bit class_itself.
constexpr uint32_t class_itself = uint32_t{1} << 31;
uint32_t kind_of(const HeapGraph& graph, Node node);
// The same if its class is known.
uint32_t kind_of(const HeapGraph& graph, Node node, uint32_t cls);
// "java.util.HashMap", "class java.lang.System".
std::string kind_name(const HeapGraph& graph, uint32_t kind);

}  // namespace hdump

#endif  // HDUMP_GRAPH_DOMINATOR_TREE_H
