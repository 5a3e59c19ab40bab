// SPDX-License-Identifier: MIT
// Intervals in address and time: examples, and a comparison with a model that stores every page at
// every time.
#include "input_stride.h"
#include "process/address_space.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace {

using a2n::AddressSpace;
using a2n::Piece;

void expect_piece(const AddressSpace& space, uint64_t address, uint64_t time,
                  const Piece& expected) {
  const auto piece = space.find(address, time);
  ASSERT_TRUE(piece) << address << " at " << time;
  EXPECT_EQ(piece->begin, expected.begin);
  EXPECT_EQ(piece->end, expected.end);
  EXPECT_EQ(piece->tag, expected.tag);
}

TEST(AddressSpace, NothingIsMappedBeforeTheFirstChange) {
  AddressSpace space;
  EXPECT_FALSE(space.find(100, 5));
  space.add(10, 100, 200, 1);
  EXPECT_FALSE(space.find(100, 9));
  EXPECT_FALSE(space.find(99, 10));
  EXPECT_FALSE(space.find(200, 10));
  expect_piece(space, 100, 10, {100, 200, 1});
  expect_piece(space, 199, UINT64_MAX, {100, 200, 1});
}

TEST(AddressSpace, ANewMappingReplacesOnlyTheOverlappedRange) {
  AddressSpace space;
  space.add(10, 100, 200, 1);
  space.add(20, 140, 160, 2);
  expect_piece(space, 150, 19, {100, 200, 1});
  expect_piece(space, 139, 20, {100, 140, 1});
  expect_piece(space, 140, 20, {140, 160, 2});
  expect_piece(space, 160, 20, {160, 200, 1});
  space.add(30, 90, 150, 3);
  expect_piece(space, 120, 30, {90, 150, 3});
  expect_piece(space, 155, 30, {150, 160, 2});
  expect_piece(space, 155, 29, {140, 160, 2});
}

TEST(AddressSpace, OneMappingMayReplaceManyMappings) {
  AddressSpace space;
  for (uint32_t i = 0; i < 10; ++i) space.add(i, 100 * i, 100 * i + 50, i);
  space.add(20, 120, 820, 99);
  expect_piece(space, 119, 20, {100, 120, 1});
  expect_piece(space, 500, 20, {120, 820, 99});
  expect_piece(space, 830, 20, {820, 850, 8});
  expect_piece(space, 510, 19, {500, 550, 5});
}

TEST(AddressSpace, AReusedAddressIsResolvedByTime) {
  AddressSpace space;
  for (uint32_t i = 0; i < 100'000; ++i) space.add(10 * i, 4096, 8192, i);
  for (uint32_t i = 0; i < 100'000; i += 777)
    expect_piece(space, 5000, 10 * i + 9, {4096, 8192, i});
}

TEST(AddressSpace, AnEarlierTimeCountsAsTheNewest) {
  AddressSpace space;
  space.add(100, 0, 10, 1);
  space.add(50, 5, 10, 2);
  EXPECT_FALSE(space.find(7, 60));
  expect_piece(space, 7, 100, {5, 10, 2});
  expect_piece(space, 2, 100, {0, 5, 1});
}

TEST(AddressSpace, TheEndOfTheAddressesCanBeMapped) {
  AddressSpace space;
  space.add(1, UINT64_MAX - 10, UINT64_MAX, 1);
  expect_piece(space, UINT64_MAX - 1, 1, {UINT64_MAX - 10, UINT64_MAX, 1});
  EXPECT_FALSE(space.find(UINT64_MAX, 1));
  space.add(2, 10, 10, 2);  // empty
  EXPECT_FALSE(space.find(10, 2));
}

TEST(AddressSpace, AForkedSpaceHasOnlyTheMappingsBeforeTheFork) {
  AddressSpace parent;
  parent.add(1, 0, 100, 1);
  AddressSpace child(parent.now());
  parent.add(2, 0, 100, 2);
  child.add(3, 50, 60, 3);
  expect_piece(child, 10, 5, {0, 50, 1});
  expect_piece(child, 55, 5, {50, 60, 3});
  expect_piece(parent, 55, 5, {0, 100, 2});
}

// The tag of each page, one array for each change.
class SpaceModel {
 public:
  static constexpr size_t pages = 48;
  using State = std::array<uint32_t, pages>;

  explicit SpaceModel(const State& initial) : states_{{0, initial}} {}
  void add(uint64_t time, size_t begin, size_t end, uint32_t tag) {
    State next = states_.back().second;
    for (size_t i = begin; i < end; ++i) next[i] = tag;
    states_.emplace_back(std::max(time, states_.back().first), next);
  }
  const State& at(uint64_t time) const {
    size_t i = states_.size() - 1;
    size_t low = 0;
    while (low < i) {  // the last state that began at or before time
      const size_t middle = (low + i + 1) / 2;
      if (states_[middle].first <= time) {
        low = middle;
      } else {
        i = middle - 1;
      }
    }
    return states_[low].second;
  }

 private:
  std::vector<std::pair<uint64_t, State>> states_;
};

void compare(const AddressSpace& space, const SpaceModel& model, size_t page, uint64_t time) {
  const SpaceModel::State& state = model.at(time);
  const auto piece = space.find(page * 4096 + 17, time);
  if (state[page] == 0) {
    ASSERT_FALSE(piece) << page << " at " << time;
    return;
  }
  ASSERT_TRUE(piece) << page << " at " << time;
  size_t begin = page;
  while (begin > 0 && state[begin - 1] == state[page]) --begin;
  size_t end = page + 1;
  while (end < SpaceModel::pages && state[end] == state[page]) ++end;
  ASSERT_EQ(piece->tag, state[page]) << page << " at " << time;
  ASSERT_EQ(piece->begin, begin * 4096) << page << " at " << time;
  ASSERT_EQ(piece->end, end * 4096) << page << " at " << time;
}

class AddressSpaceRandom : public testing::TestWithParam<uint32_t> {};

TEST_P(AddressSpaceRandom, AgreesWithAModelOfEveryPage) {
  std::mt19937 random(GetParam());
  const auto below = [&random](size_t limit) { return random() % limit; };
  AddressSpace space;
  SpaceModel model({});
  uint64_t time = 0;
  uint32_t tag = 0;
  for (size_t i = 0; i < test_support::rounds(25'000); ++i) {
    time += below(3);
    const size_t begin = below(SpaceModel::pages);
    const size_t end =
        begin + 1 + below(std::min<size_t>(SpaceModel::pages - begin, 1 + below(20)));
    space.add(time, begin * 4096, end * 4096, ++tag);
    model.add(time, begin, end, tag);
    if (below(50) == 0) space.now();
    if (below(1000) == 0) space.freeze();
    for (int k = 0; k < 4; ++k) compare(space, model, below(SpaceModel::pages), below(time + 5));
    compare(space, model, below(SpaceModel::pages), UINT64_MAX);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, AddressSpaceRandom, testing::Values(1, 2, 3, 4));

}  // namespace
