// SPDX-License-Identifier: MIT
// Dominators, retained bytes and paths of random heaps, compared with what follows from their
// definition.
#include <gtest/gtest.h>
#include <graph/dominator_tree.h>
#include <graph/paths.h>

#include <algorithm>
#include <random>
#include <set>

#include "dump_builder.h"

namespace hdump {
namespace {

constexpr uint64_t first_class = 0x1000;
constexpr uint64_t first_object = 0x100000;
constexpr size_t most_references = 5;

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
    const uint64_t size = graph->bytes(*graph->find(id_of(0)));
    std::vector<Node> targets;
    for (size_t i = 0; i < heap.references.size(); ++i) {
      const Node node = *graph->find(id_of(i));
      targets.push_back(node);
      const Place place = dominators->place(node);
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

}  // namespace
}  // namespace hdump
