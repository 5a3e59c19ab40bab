// SPDX-License-Identifier: MIT
// What the graph keeps in work files: sorted numbers, ids, records of objects, and a stack.
#include <graph/background.h>
#include <graph/disk_stack.h>
#include <graph/number_sorter.h>
#include <graph/object_records.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace hdump {
namespace {

DiskSpace work_space() {
  auto space = DiskSpace::in("/tmp");
  EXPECT_TRUE(space) << space.error().message;
  return std::move(*space);
}

std::vector<uint64_t> sorted(NumberSorter& sorter) {
  EXPECT_TRUE(sorter.finish());
  std::vector<uint64_t> all;
  for (;;) {
    const auto next = sorter.next();
    EXPECT_TRUE(next);
    if (!next || next->empty()) return all;
    all.insert(all.end(), next->begin(), next->end());
  }
}

TEST(NumberSorter, SortsWhatFitsIntoMemoryAndWhatDoesNot) {
  const DiskSpace space = work_space();
  std::mt19937_64 random(1);
  for (const size_t count : {0, 1, 2999, 3000, 3001, 50'000})
    for (const uint64_t limit : {uint64_t{100}, uint64_t{1} << 34, UINT64_MAX}) {
      NumberSorter sorter(space, 3000);
      std::vector<uint64_t> numbers;
      for (size_t i = 0; i < count; ++i) numbers.push_back(random() % limit);
      for (const uint64_t number : numbers) sorter.add(number);
      EXPECT_EQ(sorter.size(), count);
      std::ranges::sort(numbers);
      EXPECT_EQ(sorted(sorter), numbers) << count << ' ' << limit;
    }
}

TEST(ObjectIds, AreFoundByIdAndByNumber) {
  const DiskSpace space = work_space();
  std::mt19937_64 random(2);
  struct Range {
    Id lowest;
    uint64_t range;
    Id step;
  };
  for (const Range& range :
       {Range{0x7'0000'0000, 1 << 15, 8}, Range{1, 20, 1}, Range{5, 1, 1}, Range{0, UINT64_MAX, 1},
        Range{0x10, uint64_t{1} << 45, 16}, Range{UINT64_MAX - 4000, 4000, 1}}) {
    ObjectIds::Builder builder(space);
    std::set<Id> ids;
    for (int i = 0; i < 2000; ++i) {
      const Id id = range.lowest + random() % range.range / range.step * range.step;
      builder.add(id);
      ids.insert(id);
    }
    const auto found = builder.finish();
    ASSERT_TRUE(found);
    ASSERT_EQ(found->size(), ids.size());
    Node node = 0;
    std::vector<Id> asked;
    std::vector<Node> expected;
    for (const Id id : ids) {
      EXPECT_EQ(found->find(id), node);
      EXPECT_EQ(found->id(node), id);
      asked.insert(asked.end(), {id, id + 1});
      expected.insert(expected.end(), {node, ids.contains(id + 1) ? node + 1 : no_node});
      ++node;
    }
    if (ids.contains(UINT64_MAX)) expected.back() = ids.contains(0) ? 0 : no_node;
    std::vector<Node> nodes(asked.size());
    found->find(asked, nodes.data());
    EXPECT_EQ(nodes, expected);
  }
}

struct Written {
  Shape shape;
  std::vector<Node> targets;
};

TEST(ObjectRecords, AreReadAsTheyWereWrittenInAnyOrder) {
  const DiskSpace space = work_space();
  std::mt19937 random(3);
  constexpr Node objects = 20'000;
  for (const bool shuffled : {false, true}) {
    std::vector<Node> order(objects);
    for (Node i = 0; i < objects; ++i) order[i] = i;
    if (shuffled) std::ranges::shuffle(order, random);
    auto writer = ObjectRecords::Writer::make(space, objects);
    ASSERT_TRUE(writer);
    std::map<Node, Written> written;
    for (const Node node : order) {
      if (node % 1000 == 17) continue;  // has no record
      Written& object = written[node];
      object.shape = {static_cast<uint32_t>(random() % 3 == 0 ? random() : random() % 100),
                      static_cast<uint32_t>(random() % 2 == 0 ? 0 : random())};
      for (size_t i = node % 4000 == 0 ? 30'000 : random() % 4; i > 0; --i)
        object.targets.push_back(random() % 2 == 0 ? node : static_cast<Node>(random()) >> 1);
      ASSERT_TRUE(writer->begin(node, object.shape, node % 3 != 0));
      for (const Node target : object.targets) writer->add(target);
      writer->end();
      EXPECT_FALSE(writer->begin(node, {}, true));
    }
    const auto records = writer->finish();
    ASSERT_TRUE(records);
    for (Node node = 0; node < objects; ++node) {
      ObjectRecords::Record record = (*records)[node];
      EXPECT_EQ(record.shape.cls, written[node].shape.cls);
      EXPECT_EQ(record.shape.length, written[node].shape.length);
      std::vector<Node> targets;
      while (record.targets.left()) targets.push_back(record.targets.next());
      EXPECT_EQ(targets, written[node].targets);
    }
  }
}

TEST(Background, DoesTasksInOrderAndHandsOnWhatTheyThrow) {
  Background background;
  std::vector<int> done;
  for (int i = 0; i < 100; ++i) background.add([&done, i] { done.push_back(i); });
  background.wait();
  ASSERT_EQ(done.size(), 100u);
  EXPECT_TRUE(std::ranges::is_sorted(done));
  background.add([] { throw std::bad_alloc(); });
  EXPECT_THROW(background.wait(), std::bad_alloc);
  background.wait();
}

TEST(DiskStack, GivesBackTheLastElementFirst) {
  const DiskSpace space = work_space();
  std::mt19937 random(4);
  DiskStack<std::array<uint64_t, 64>> stack(space);  // of 2048 elements in a block
  std::vector<uint64_t> model;
  for (uint64_t i = 0; i < 60'000; ++i) {
    if (!model.empty() && (i / 9000) % 2 != 0) {
      ASSERT_EQ(stack.pop()[63], model.back());
      model.pop_back();
    } else {
      std::array<uint64_t, 64> element{};
      element[63] = i;
      stack.push(element);
      model.push_back(i);
    }
    EXPECT_EQ(stack.empty(), model.empty());
  }
  EXPECT_FALSE(stack.error());
}

}  // namespace
}  // namespace hdump
