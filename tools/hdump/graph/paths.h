// SPDX-License-Identifier: MIT
// The shortest ways from the roots to some objects, with the fields that they go through.
#ifndef HDUMP_GRAPH_PATHS_H
#define HDUMP_GRAPH_PATHS_H

#include <string>
#include <vector>

#include "heap_graph.h"

namespace hdump {

struct Step {
  Node node = 0;
  // How this object refers to the next one: "table", "[17]", "static cache", "<class>"; of the last
  // object empty.
  std::string reference;
};

struct Path {
  RootKind root{};
  std::vector<Step> steps;  // from the root to the object; none if no root reaches it
};

// One path for each target, in their order. Reads the dump once more, for the names of fields.
pi::Result<std::vector<Path>> shortest_paths(HeapGraph& graph, const DiskSpace& space,
                                             const HeapGraph::Open& open,
                                             const std::vector<Node>& targets,
                                             const HeapGraph::Progress& progress);

}  // namespace hdump

#endif  // HDUMP_GRAPH_PATHS_H
