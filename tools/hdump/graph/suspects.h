// SPDX-License-Identifier: MIT
// Objects that are likely to be leaks: they alone keep a large part of the heap alive.
#ifndef HDUMP_GRAPH_SUSPECTS_H
#define HDUMP_GRAPH_SUSPECTS_H

#include <vector>

#include "dominator_tree.h"

namespace hdump {

struct Held {
  uint32_t cls = 0;
  uint64_t objects = 0;
  uint64_t bytes = 0;
};

struct Suspect {
  // The object below which the bytes divide; of a group the one that retains most.
  Place place = 0;
  uint64_t objects = 1;   // of a group: all objects of one class below the roots
  uint64_t retained = 0;  // by all of them
  // What they keep alive, by class, most bytes first; at most the first few.
  std::vector<Held> held;
};

// Suspects retain at least `percent` of the reachable bytes. Most retained bytes first.
std::vector<Suspect> find_suspects(const HeapGraph& graph, const Dominators& dominators,
                                   const Children& children, double percent);

}  // namespace hdump

#endif  // HDUMP_GRAPH_SUSPECTS_H
