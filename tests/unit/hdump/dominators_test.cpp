// SPDX-License-Identifier: MIT
// Dominators, retained bytes and paths of random heaps, compared with what follows from their
// definition.
#include <gtest/gtest.h>
#include <graph/dominator_tree.h>
#include <graph/paths.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "dump_builder.h"

namespace hdump {
namespace {

constexpr uint64_t first_class = 0x1000;
constexpr uint64_t first_object = 0x100000;
constexpr size_t most_references = 5;  // of an object; those with more are arrays
constexpr size_t array_length = 1300;  // more than are handled together

struct RandomHeap {
  std::vector<std::vector<size_t>> references;
  std::vector<size_t> class_of;
  std::vector<size_t> roots;
  size_t classes = 0;
};

uint64_t id_of(size_t object) {
  return first_object + 16 * object;
}

RandomHeap random_heap(std::mt19937& random) {
  const auto below = [&](size_t limit) { return random() % limit; };
  RandomHeap heap;
  heap.classes = 1 + below(4);
  heap.references.resize(1 + below(40));
  const size_t density = 1 + below(most_references);
  const bool chain = below(3) == 0;
  for (size_t i = 0; i < heap.references.size(); ++i) {
    heap.class_of.push_back(below(heap.classes));
    for (size_t j = below(density + 1); j > 0; --j)
      heap.references[i].push_back(below(heap.references.size()));
    if (chain && heap.references[i].size() < most_references && i > 0)
      heap.references[i].push_back(i - 1);
  }
  for (size_t i = 1 + below(3); i > 0; --i) heap.roots.push_back(below(heap.references.size()));
  return heap;
}

// Two arrays that share some elements, which refer to others of them and to the arrays.
RandomHeap heap_with_arrays(std::mt19937& random) {
  RandomHeap heap;
  heap.classes = 1;
  heap.references.resize(array_length);
  heap.class_of.resize(array_length);
  heap.roots = {0, 2};
  for (size_t i = 2; i < array_length; ++i)
    for (size_t j = random() % 3; j > 0; --j)
      heap.references[i].push_back(random() % 50 == 0 ? random() % 2 : i - random() % (i / 2));
  for (size_t i = 0; i < array_length; ++i)
    heap.references[i % 7 == 0].push_back((i * 7919) % array_length);
  for (size_t i = 0; i < array_length; i += 9) heap.references[1].push_back(i);
  heap.references[2].push_back(1);
  return heap;
}

std::vector<std::byte> dump_of(const RandomHeap& heap, std::mt19937& random) {
  DumpBuilder dump;
  const std::vector<DumpBuilder::FieldSpec> fields(most_references, {"field", Type::object});
  for (size_t i = 0; i < heap.classes; ++i) {
    dump.add_class(first_class + i, "Class" + std::to_string(i), 0, fields);
    dump.add_root(first_class + i);
  }
  std::vector<size_t> order(heap.references.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (random() % 2 == 0) std::ranges::shuffle(order, random);
  for (const size_t object : order) {
    std::vector<uint64_t> values;
    for (const size_t target : heap.references[object]) values.push_back(id_of(target));
    if (values.size() > most_references) {
      dump.add_array(id_of(object), first_class + heap.classes, values);
      continue;
    }
    values.resize(most_references);
    std::ranges::shuffle(values, random);
    dump.add_object(id_of(object), first_class + heap.class_of[object], values);
    if (random() % 8 == 0) dump.end_segment();
  }
  for (const size_t root : heap.roots) dump.add_root(id_of(root));
  return dump.finish();
}

// The objects that the roots reach without those for which gone() is true.
template <class Gone>
std::set<size_t> reached(const RandomHeap& heap, Gone gone) {
  std::set<size_t> seen;
  std::vector<size_t> left;
  const auto visit = [&](size_t object) {
    if (!gone(object) && seen.insert(object).second) left.push_back(object);
  };
  for (const size_t root : heap.roots) visit(root);
  while (!left.empty()) {
    const size_t object = left.back();
    left.pop_back();
    for (const size_t target : heap.references[object]) visit(target);
  }
  return seen;
}

TEST(Dominators, OfRandomHeapsFollowTheDefinition) {
  std::mt19937 random(1);
  const auto space = DiskSpace::in("/tmp");
  ASSERT_TRUE(space) << space.error().message;
  for (int round = 0; round < 100; ++round) {
    const RandomHeap heap = random_heap(random);
    const std::vector<std::byte> bytes = dump_of(heap, random);
    const HeapGraph::Open open = [&]() -> pi::Result<std::unique_ptr<ByteStream>> {
      return memory_stream(bytes);
    };
    Damage damage;
    const auto no_progress = [](const char*, uint64_t) {};
    auto graph = HeapGraph::read(open, *space, damage, no_progress);
    ASSERT_TRUE(graph) << graph.error().message;
    EXPECT_EQ(damage.places, 0u);
    const auto dominators = Dominators::of(*graph, *space, [](const char*, uint64_t, uint64_t) {});
    ASSERT_TRUE(dominators) << dominators.error().message;
    const auto children = Children::of(*dominators, *space);
    ASSERT_TRUE(children);

    const std::set<size_t> live = reached(heap, [](size_t) { return false; });
    ASSERT_EQ(dominators->size(), live.size() + heap.classes + 1);
    std::vector<Place> place_of(graph->size());
    for (Place place = 1; place < dominators->size(); ++place)
      place_of[dominators->node(place)] = place;
    const uint64_t size = graph->bytes(*graph->find(id_of(0)));
    std::vector<Node> targets;
    for (size_t i = 0; i < heap.references.size(); ++i) {
      const Node node = *graph->find(id_of(i));
      targets.push_back(node);
      const Place place = place_of[node];
      EXPECT_EQ(place != 0, live.contains(i));
      if (place == 0) continue;
      const auto rest = reached(heap, [&](size_t object) { return object == i; });
      EXPECT_EQ(dominators->retained(place), (live.size() - rest.size()) * size)
          << round << ' ' << i;
    }
    const auto totals = class_totals(*graph, *dominators, *children, *space);
    ASSERT_TRUE(totals);
    for (size_t i = 0; i < heap.classes; ++i) {
      const uint32_t number = *graph->classes().find(first_class + i);
      const auto rest = reached(heap, [&](size_t object) { return heap.class_of[object] == i; });
      const uint64_t exact = (live.size() - rest.size()) * size;
      EXPECT_EQ((*totals)[number].objects, std::ranges::count(heap.class_of, i));
      EXPECT_LE((*totals)[number].retained, exact);
      if ((*totals)[number].objects == 1) {
        EXPECT_EQ((*totals)[number].retained, exact);
      }
    }
    // Ways divide the reachable bytes.
    const auto all = ways(*graph, *dominators, *space);
    ASSERT_TRUE(all);
    EXPECT_EQ((*all)[0].retained, dominators->retained(0));

    const auto paths = shortest_paths(*graph, *space, open, targets, no_progress);
    ASSERT_TRUE(paths) << paths.error().message;
    for (size_t i = 0; i < paths->size(); ++i) {
      const std::vector<Step>& steps = (*paths)[i].steps;
      ASSERT_EQ(!steps.empty(), live.contains(i));
      if (steps.empty()) continue;
      EXPECT_EQ(steps.back().node, targets[i]);
      const auto object_of = [&](const Step& step) {
        return (graph->object(step.node).id - first_object) / 16;
      };
      EXPECT_EQ(std::ranges::count(heap.roots, object_of(steps.front())) != 0, true);
      for (size_t j = 0; j + 1 < steps.size(); ++j) {
        const auto& references = heap.references[object_of(steps[j])];
        EXPECT_NE(std::ranges::find(references, object_of(steps[j + 1])), references.end());
        EXPECT_EQ(steps[j].reference, "field");
      }
    }
  }
}

// Retained bytes of each object by its id; 0 for those that no root reaches.
std::map<Id, uint64_t> retained_bytes(const std::vector<std::byte>& bytes, const DiskSpace& space,
                                      std::map<Id, uint64_t>& sizes) {
  std::map<Id, uint64_t> result;
  Damage damage;
  auto graph = HeapGraph::read(
      [&]() -> pi::Result<std::unique_ptr<ByteStream>> { return memory_stream(bytes); }, space,
      damage, [](const char*, uint64_t) {});
  EXPECT_TRUE(graph);
  if (!graph) return result;
  const auto dominators = Dominators::of(*graph, space, [](const char*, uint64_t, uint64_t) {});
  EXPECT_TRUE(dominators);
  for (Node node = 0; node < graph->size(); ++node) {
    sizes[graph->object(node).id] = graph->bytes(node);
    result[graph->object(node).id] = 0;
  }
  for (Place place = 1; dominators && place < dominators->size(); ++place)
    result[graph->object(dominators->node(place)).id] = dominators->retained(place);
  return result;
}

TEST(Dominators, OfLongArraysFollowTheDefinition) {
  std::mt19937 random(2);
  const auto space = DiskSpace::in("/tmp");
  ASSERT_TRUE(space) << space.error().message;
  const RandomHeap heap = heap_with_arrays(random);
  std::map<Id, uint64_t> sizes;
  const auto retained = retained_bytes(dump_of(heap, random), *space, sizes);
  const std::set<size_t> live = reached(heap, [](size_t) { return false; });
  ASSERT_GT(live.size(), array_length / 2);
  for (size_t i = 0; i < array_length; i += i < 3 ? 1 : 5) {
    uint64_t gone = 0;
    if (live.contains(i)) {
      const auto rest = reached(heap, [&](size_t object) { return object == i; });
      for (const size_t object : live) gone += rest.contains(object) ? 0 : sizes[id_of(object)];
    }
    EXPECT_EQ(retained.at(id_of(i)), gone) << i;
  }
}

}  // namespace
}  // namespace hdump
