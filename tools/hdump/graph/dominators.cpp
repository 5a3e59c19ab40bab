// SPDX-License-Identifier: MIT
#include "dominators.h"

#include <algorithm>
#include <vector>

namespace hdump {
namespace {

constexpr uint32_t report_every = 1 << 20;  // objects between two reports of progress

template <class T>
pi::Status make(DiskArray<T>& array, const DiskSpace& space, uint64_t size) {
  auto made = DiskArray<T>::make(space, size);
  if (!made) return made.error();
  array = std::move(*made);
  return {};
}

}  // namespace

pi::Result<Dominators> Dominators::of(const HeapGraph& graph, const DiskSpace& space,
                                      const Progress& progress) {
  Dominators result;
  if (const auto status = result.search(graph, space, progress); !status) return status.error();
  if (const auto status = result.find_sources(graph, space); !status) return status.error();
  if (const auto status = result.find_dominators(space, progress); !status) return status.error();
  if (const auto status = result.add_sizes(graph, space); !status) return status.error();
  return result;
}

// Numbers the objects in the order of a depth-first search. The stack is on the disk, as a list of
// forty million elements has as many levels.
pi::Status Dominators::search(const HeapGraph& graph, const DiskSpace& space,
                              const Progress& progress) {
  const uint64_t most = uint64_t{graph.size()} + 1;
  if (const auto status = make(place_, space, graph.size()); !status) return status;
  if (const auto status = make(node_, space, most); !status) return status;
  if (const auto status = make(parent_, space, most); !status) return status;
  struct Level {
    Place place = 0;
    HeapGraph::Targets targets;
  };
  DiskArray<Level> levels;
  if (const auto status = make(levels, space, most); !status) return status;
  Place last = 0;
  for (const Root& root : graph.roots()) {
    if (place_[root.node] != 0) continue;
    uint64_t depth = 0;
    const auto enter = [&](Node node, Place parent) {
      place_[node] = ++last;
      node_[last] = node;
      parent_[last] = parent;
      levels[depth++] = {last, graph.targets_of(node)};
      if (last % report_every == 0) progress("following references", last, graph.size());
    };
    enter(root.node, 0);
    while (depth != 0) {
      Level& level = levels[depth - 1];
      if (!level.targets.left()) {
        --depth;
        continue;
      }
      const Node target = graph.next(level.targets);
      if (place_[target] == 0) enter(target, level.place);
    }
  }
  node_.shrink(uint64_t{last} + 1);
  parent_.shrink(uint64_t{last} + 1);
  // Roots that another root reached first are children of the roots as well.
  for (const Root& root : graph.roots()) parent_[place_[root.node]] = 0;
  return {};
}

// Turns the references round. References to roots are left out, as nothing but the roots dominates
// these.
pi::Status Dominators::find_sources(const HeapGraph& graph, const DiskSpace& space) {
  const uint64_t size = node_.size();
  if (const auto status = make(begin_, space, size + 1); !status) return status;
  const auto each = [&](auto use) {
    for (Place place = 1; place < size; ++place)
      graph.for_each_target(node_[place], [&](Node node) {
        const Place target = place_[node];
        if (parent_[target] != 0) use(place, target);
      });
  };
  uint64_t all = 0;
  each([&](Place, Place target) {
    ++begin_[target];
    ++all;
  });
  if (all > most_references)
    return pi::Error{-1, "its objects have too many references to their classes."};
  if (const auto status = make(sources_, space, all); !status) return status;
  // begin_ becomes the end of each object's sources, and while they are stored their beginning.
  uint32_t sum = 0;
  for (Place place = 0; place <= size; ++place) sum = begin_[place] += sum;
  each([&](Place source, Place target) { sources_[--begin_[target]] = source; });
  return {};
}

pi::Status Dominators::find_dominators(const DiskSpace& space, const Progress& progress) {
  const auto size = static_cast<Place>(node_.size());
  DiskArray<Place> ancestor;  // by place: in the forest of those that have been processed
  DiskArray<Place> label;     // the lowest semidominator on the way to the ancestor
  DiskArray<Place> semi;      // semidominators
  if (const auto status = make(ancestor, space, size); !status) return status;
  if (const auto status = make(label, space, size); !status) return status;
  if (const auto status = make(semi, space, size); !status) return status;
  for (Place place = 0; place < size; ++place) {
    ancestor[place] = parent_[place];
    label[place] = place;
  }
  std::vector<Place> way;
  // The lowest semidominator on the way from place to the root of its tree in the forest of all
  // places above `current`; the way becomes shorter.
  const auto lowest = [&](Place place, Place current) {
    if (place <= current) return place;
    while (ancestor[place] > current) {
      way.push_back(place);
      place = ancestor[place];
    }
    Place best = label[place];
    const Place top = ancestor[place];
    while (!way.empty()) {
      const Place below = way.back();
      way.pop_back();
      best = label[below] = std::min(label[below], best);
      ancestor[below] = top;
    }
    return best;
  };
  for (Place place = size - 1; place > 0; --place) {
    Place best = parent_[place];
    for (uint32_t i = begin_[place]; i < begin_[place + 1]; ++i)
      best = std::min(best, lowest(sources_[i], place));
    semi[place] = label[place] = best;
    if (place % report_every == 0) progress("finding dominators", size - place, size);
  }
  sources_ = {};
  begin_ = {};
  label = {};
  dominator_ = std::move(ancestor);
  dominator_[0] = 0;
  for (Place place = 1; place < size; ++place) {
    Place above = parent_[place];
    while (above > semi[place]) above = dominator_[above];
    dominator_[place] = above;
  }
  parent_ = {};
  return {};
}

pi::Status Dominators::add_sizes(const HeapGraph& graph, const DiskSpace& space) {
  if (const auto status = make(retained_, space, size()); !status) return status;
  for (Place place = size() - 1; place > 0; --place) {
    retained_[place] += graph.bytes(node_[place]);
    retained_[dominator_[place]] += retained_[place];
  }
  return {};
}

}  // namespace hdump
