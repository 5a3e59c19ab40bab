// SPDX-License-Identifier: MIT
#include "dominator_tree.h"

#include <unordered_map>

namespace hdump {
namespace {

// Deeper objects are counted where the way ends.
constexpr uint32_t deepest_way = 24;
constexpr size_t most_ways = 2'000'000;

}  // namespace

uint32_t kind_of(const HeapGraph& graph, Node node) {
  return kind_of(graph, node, graph.record(node).shape.cls);
}

uint32_t kind_of(const HeapGraph& graph, Node node, uint32_t cls) {
  const auto itself = graph.as_class(node, cls);
  return itself ? *itself | class_itself : cls;
}

std::string kind_name(const HeapGraph& graph, uint32_t kind) {
  const std::string& name = graph.classes()[kind & ~class_itself].name;
  return (kind & class_itself) != 0 ? "class " + name : name;
}

pi::Result<Children> Children::of(const Dominators& dominators, const DiskSpace& space) {
  const Place size = dominators.size();
  Children children;
  auto begin = DiskArray<uint32_t>::make(space, uint64_t{size} + 1);
  if (!begin) return begin.error();
  auto list = DiskArray<Place>::make(space, size - 1);
  if (!list) return list.error();
  for (Place place = 1; place < size; ++place) ++(*begin)[dominators.dominator(place)];
  uint32_t sum = 0;
  for (uint32_t& place : *begin) sum = place += sum;
  for (Place place = size - 1; place > 0; --place)
    (*list)[--(*begin)[dominators.dominator(place)]] = place;
  children.begin_ = std::move(*begin);
  children.list_ = std::move(*list);
  return children;
}

pi::Result<std::vector<ClassTotals>> class_totals(const HeapGraph& graph,
                                                  const Dominators& dominators,
                                                  const Children& children,
                                                  const DiskSpace& space) {
  std::vector<ClassTotals> totals(graph.classes().size());
  for (size_t cls = 0; cls < totals.size(); ++cls) {
    totals[cls].objects = graph.totals()[cls].objects;
    totals[cls].bytes = graph.totals()[cls].bytes;
  }
  // Down the tree, with the number of objects of each class above.
  std::vector<uint32_t> above(totals.size());
  struct Level {
    Place place = 0;
    uint32_t next = 0;  // of its children
  };
  auto levels = DiskArray<Level>::make(space, dominators.size());
  if (!levels) return levels.error();
  uint64_t depth = 1;
  while (depth != 0) {
    Level& level = (*levels)[depth - 1];
    const auto below = children.of(level.place);
    if (level.next == below.size()) {
      --depth;
      if (level.place != 0) --above[dominators.cls(level.place)];
      continue;
    }
    const Place place = below[level.next++];
    const uint32_t cls = dominators.cls(place);
    if (above[cls]++ == 0) totals[cls].retained += dominators.retained(place);
    (*levels)[depth++] = {place, 0};
  }
  return totals;
}

pi::Result<std::vector<Way>> ways(const HeapGraph& graph, const Dominators& dominators,
                                  const DiskSpace& space) {
  std::vector<Way> all(1);
  std::unordered_map<uint64_t, uint32_t> known;
  auto way_of = DiskArray<uint32_t>::make(space, dominators.size());
  if (!way_of) return way_of.error();
  for (Place place = 1; place < dominators.size(); ++place) {
    const uint32_t kind = kind_of(graph, dominators.node(place), dominators.cls(place));
    const uint32_t above = (*way_of)[dominators.dominator(place)];
    uint32_t way = above;
    const auto entry = known.find(uint64_t{way} << 32 | kind);
    if (way != 0 && all[way].kind == kind) {
      // The next of several in a row.
    } else if (entry != known.end()) {
      way = entry->second;
    } else if (all[way].depth == deepest_way || all.size() == most_ways) {
      all[way].cut = true;
    } else {
      const auto number = static_cast<uint32_t>(all.size());
      known.emplace(uint64_t{way} << 32 | kind, number);
      all.push_back({.parent = way, .kind = kind, .depth = all[way].depth + 1});
      way = number;
    }
    (*way_of)[place] = way;
    ++all[way].objects;
    // An object's own bytes are what it retains less what the objects below it do.
    all[way].bytes += dominators.retained(place);
    all[above].bytes -= dominators.retained(place);
  }
  all[0].bytes += dominators.retained(0);
  for (size_t i = all.size() - 1; i > 0; --i) {
    all[i].retained += all[i].bytes;
    all[all[i].parent].retained += all[i].retained;
  }
  all[0].retained += all[0].bytes;
  return all;
}

}  // namespace hdump
