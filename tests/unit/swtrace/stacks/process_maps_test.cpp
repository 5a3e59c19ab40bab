// SPDX-License-Identifier: MIT
// What was mapped where at the time of a tick.
#include "stacks/process_maps.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "stacks/table_files.h"

namespace pi::swtrace {
namespace {

pi_process_change mapped(uint32_t pid, uint64_t time, uint64_t address, uint64_t bytes,
                         uint64_t offset = 0) {
  pi_process_change change{};
  change.kind = PI_PROCESS_MAPPED;
  change.pid = pid;
  change.time = time;
  change.address = address;
  change.bytes = bytes;
  change.offset = offset;
  change.path = "";
  return change;
}

pi_process_change happened(int kind, uint32_t pid, uint64_t time, uint32_t parent = 0) {
  pi_process_change change{};
  change.kind = kind;
  change.pid = pid;
  change.time = time;
  change.parent = parent;
  return change;
}

const Mapping* find(const ProcessMaps& maps, uint32_t pid, uint64_t address) {
  const auto map = maps.of(pid);
  return map ? map->find(address) : nullptr;
}

class SwtraceProcessMaps : public testing::Test {
 protected:
  // The offset in the file; -1: nothing is mapped.
  int64_t offset(uint32_t pid, uint64_t address) const {
    const Mapping* mapping = find(maps_, pid, address);
    return mapping ? static_cast<int64_t>(address - mapping->bias) : -1;
  }
  ProcessMaps maps_;
};

TEST_F(SwtraceProcessMaps, ChangesApplyFromTheirTimeOnAndInTheirOrder) {
  maps_.add(mapped(1, 20, 0x1000, 0x1000, 0x8000), nullptr);
  maps_.add(mapped(1, 10, 0x1000, 0x1000, 0x4000), nullptr);
  maps_.advance(9);
  EXPECT_EQ(offset(1, 0x1000), -1);
  maps_.advance(10);
  EXPECT_EQ(offset(1, 0x1010), 0x4010);
  EXPECT_EQ(offset(1, 0x2000), -1);
  EXPECT_EQ(offset(2, 0x1010), -1);
  maps_.advance(25);
  EXPECT_EQ(offset(1, 0x1010), 0x8010);
}

TEST_F(SwtraceProcessMaps, AChildHasItsParentsMemoryUntilEitherChanges) {
  maps_.add(mapped(1, 1, 0x1000, 0x1000), nullptr);
  maps_.add(happened(PI_PROCESS_FORKED, 2, 2, 1), nullptr);
  maps_.add(mapped(2, 3, 0x5000, 0x1000), nullptr);
  maps_.add(mapped(1, 3, 0x7000, 0x1000), nullptr);
  maps_.advance(3);
  EXPECT_EQ(offset(2, 0x1000), 0);
  EXPECT_EQ(offset(2, 0x5000), 0);
  EXPECT_EQ(offset(1, 0x5000), -1);
  EXPECT_EQ(offset(2, 0x7000), -1);
  maps_.add(happened(PI_PROCESS_EXECUTED, 2, 4), nullptr);
  maps_.add(happened(PI_PROCESS_ENDED, 1, 5), nullptr);
  maps_.advance(4);
  EXPECT_EQ(offset(2, 0x1000), -1);
  EXPECT_EQ(offset(1, 0x1000), 0);
  maps_.advance(5);
  EXPECT_EQ(offset(1, 0x1000), -1);
}

// Compared with a list of pages.
TEST_F(SwtraceProcessMaps, ANewMappingReplacesExactlyWhatWasThere) {
  std::mt19937 random(5);
  std::map<uint64_t, uint64_t> pages;
  for (uint64_t i = 1; i < 3000; ++i) {
    const uint64_t first = 1 + random() % 60, count = 1 + random() % 12, place = random() % 1000;
    maps_.add(mapped(1, i, first << 12, count << 12, place << 12), nullptr);
    maps_.advance(i);
    for (uint64_t page = 0; page < count; ++page) pages[first + page] = place + page;
    for (uint64_t page = 0; page < 80; ++page) {
      const auto known = pages.find(page);
      ASSERT_EQ(offset(1, (page << 12) + 5),
                known == pages.end() ? -1 : static_cast<int64_t>((known->second << 12) + 5));
    }
  }
}

TEST_F(SwtraceProcessMaps, AMappingOfNoOrTooManyBytesIsIgnored) {
  maps_.add(mapped(1, 1, 0x1000, 0), nullptr);
  maps_.add(mapped(1, 1, ~uint64_t{0xfff}, 0x2000), nullptr);
  maps_.advance(1);
  EXPECT_EQ(offset(1, 0x1000), -1);
  EXPECT_EQ(offset(1, ~uint64_t{0}), -1);
}

TEST_F(SwtraceProcessMaps, WhatWasAskedForStaysWhenTheProcessChanges) {
  maps_.add(mapped(1, 1, 0x1000, 0x1000), nullptr);
  maps_.advance(1);
  const auto before = maps_.of(1);
  maps_.add(mapped(1, 2, 0x1000, 0x1000, 0x8000), nullptr);
  maps_.add(happened(PI_PROCESS_ENDED, 1, 3), nullptr);
  maps_.advance(2);
  EXPECT_EQ(offset(1, 0x1000), 0x8000);
  EXPECT_EQ(before->find(0x1000)->bias, 0x1000u);
  maps_.advance(3);
  EXPECT_FALSE(maps_.of(1));
  EXPECT_TRUE(before->find(0x1fff));
}

// Changes whose time does not come: a trace that is suspended has no ticks.
TEST_F(SwtraceProcessMaps, ChangesThatDoNotFitApplyAtOnce) {
  ProcessMaps maps({4, 1000, 1000});
  for (uint64_t i = 1; i <= 10; ++i) maps.add(mapped(1, i, i << 12, 0x1000), nullptr);
  EXPECT_TRUE(find(maps, 1, 6 << 12));
  EXPECT_FALSE(find(maps, 1, 7 << 12));
  EXPECT_EQ(maps.refused(), 0u);
}

// A search of 60,000 mappings for each stack would take more time than the program.
TEST_F(SwtraceProcessMaps, TheRuntimeIsKeptUntilAFileIsMappedOrReplaced) {
  const auto bytes = std::make_shared<std::atomic<size_t>>(0);
  const auto file = [&] { return std::make_shared<TableFile>(MappedAs{}, bytes); };
  uint64_t time = 0;
  const auto map_and_look = [&](uint64_t address, std::shared_ptr<TableFile> of) {
    maps_.add(mapped(1, ++time, address, 0x1000), std::move(of));
    maps_.advance(time);
    const auto map = maps_.of(1);
    const auto known = map->runtime();
    const TableFile* const kept = known && *known ? (*known)->file.get() : nullptr;
    map->keep_runtime(map->find(0x1000));
    return known ? std::optional(kept) : std::nullopt;
  };
  EXPECT_FALSE(map_and_look(0x1000, file()));
  const TableFile* const runtime = find(maps_, 1, 0x1000)->file.get();
  EXPECT_EQ(map_and_look(0x8000, nullptr), runtime);
  EXPECT_EQ(map_and_look(0x8000, nullptr), runtime);
  EXPECT_FALSE(map_and_look(0x9000, file()));
  EXPECT_FALSE(map_and_look(0x9000, nullptr));
  EXPECT_FALSE(map_and_look(0x800, nullptr));  // its first half
  EXPECT_FALSE(map_and_look(0x1000, nullptr));
  EXPECT_EQ(map_and_look(0xa000, nullptr), nullptr);  // there is none
  // A child that changes has a search of its own.
  maps_.add(happened(PI_PROCESS_FORKED, 2, ++time, 1), nullptr);
  maps_.add(mapped(2, ++time, 0xb000, 0x1000), nullptr);
  maps_.advance(time);
  EXPECT_FALSE(maps_.of(2)->runtime());
}

TEST_F(SwtraceProcessMaps, AProcessHasALimitedNumberOfMappings) {
  ProcessMaps maps({1000, 1000, 4});
  maps.add(mapped(1, 1, 0x100000, 0x100000), nullptr);
  // Each divides what is left of the first.
  for (uint64_t i = 1; i <= 10; ++i)
    maps.add(mapped(1, i + 1, 0x100000 + i * 0x2000, 0x1000), nullptr);
  for (uint64_t i = 1; i <= 10; ++i) maps.add(mapped(2, i + 1, i << 12, 0x1000), nullptr);
  maps.advance(100);
  EXPECT_TRUE(find(maps, 1, 0x100000));
  EXPECT_TRUE(find(maps, 1, 0x102000));
  EXPECT_FALSE(find(maps, 1, 0x100000 + 10 * 0x2000));
  EXPECT_TRUE(find(maps, 2, 4 << 12));
  EXPECT_FALSE(find(maps, 2, 5 << 12));
  EXPECT_GE(maps.refused(), 6u + 8);
  // What it has can still be replaced.
  maps.add(mapped(2, 101, 2 << 12, 0x1000, 0x5000), nullptr);
  maps.advance(101);
  EXPECT_EQ(find(maps, 2, 2 << 12)->bias, (uint64_t{2} << 12) - 0x5000);
}

TEST_F(SwtraceProcessMaps, AllProcessesTogetherHaveALimitedNumberOfMappings) {
  ProcessMaps maps({1000, 10, 8});
  for (uint64_t i = 1; i <= 6; ++i) maps.add(mapped(1, i, i << 12, 0x1000), nullptr);
  maps.add(happened(PI_PROCESS_FORKED, 2, 10, 1), nullptr);
  maps.add(mapped(2, 11, 6 << 12, 0x1000, 0x3000), nullptr);  // needs a copy of six
  maps.advance(11);
  EXPECT_EQ(find(maps, 2, 6 << 12)->bias, (uint64_t{6} << 12) - 0x3000);
  EXPECT_FALSE(find(maps, 2, 5 << 12));
  EXPECT_TRUE(find(maps, 1, 5 << 12));
  EXPECT_EQ(maps.refused(), 6u);
  // A process that has ended gives back what it alone had.
  maps.add(happened(PI_PROCESS_ENDED, 1, 12), nullptr);
  maps.add(mapped(2, 13, 9 << 12, 0x1000), nullptr);
  for (uint64_t i = 1; i <= 3; ++i) maps.add(mapped(3, 14, i << 12, 0x1000), nullptr);
  maps.add(happened(PI_PROCESS_EXECUTED, 3, 15), nullptr);
  for (uint64_t i = 1; i <= 8; ++i) maps.add(mapped(4, 16, i << 12, 0x1000), nullptr);
  maps.add(mapped(5, 17, 1 << 12, 0x1000), nullptr);
  maps.advance(17);
  EXPECT_TRUE(find(maps, 2, 9 << 12));
  EXPECT_TRUE(find(maps, 4, 8 << 12));
  EXPECT_FALSE(find(maps, 5, 1 << 12));
  EXPECT_EQ(maps.refused(), 7u);
}

TEST_F(SwtraceProcessMaps, OthersLeaveSomeForRootAndTheRecordersUser) {
  ProcessMaps maps({1000, 10, 8, 6}, [](uint32_t pid) { return pid == 1; });
  const auto add = [&](uint32_t pid, uint64_t page) {
    maps.add(mapped(pid, 1, page << 12, 0x1000, page << 13), nullptr);
    maps.advance(1);
    const Mapping* mapping = find(maps, pid, page << 12);
    return mapping && mapping->bias == (page << 12) - (page << 13);
  };
  for (uint64_t page = 1; page <= 5; ++page) EXPECT_TRUE(add(2, page));
  EXPECT_TRUE(add(3, 1));
  EXPECT_FALSE(add(3, 2));
  for (uint64_t page = 1; page <= 4; ++page) EXPECT_TRUE(add(1, page));
  EXPECT_FALSE(add(1, 5));
  // Nothing of theirs is lost, and they can replace it.
  EXPECT_FALSE(add(2, 6));
  for (uint64_t page = 1; page <= 5; ++page) EXPECT_TRUE(add(2, page));
  EXPECT_EQ(maps.refused(), 3u);
}

// Processes that share memory fork at no cost to them.
TEST_F(SwtraceProcessMaps, ChildrenOfAProcessWithManyMappingsNeedLittleMemoryOfTheirOwn) {
  constexpr uint64_t many = 60'000;
  ProcessMaps maps({1 << 17, 100'000, 1 << 16});
  for (uint64_t i = 1; i <= many; ++i) maps.add(mapped(1, i, i << 13, 0x1000), nullptr);
  for (uint32_t child = 2; child <= 200; ++child) {
    const uint64_t time = many + child, place = uint64_t{child} << 20;
    maps.add(happened(PI_PROCESS_FORKED, child, time, 1), nullptr);
    maps.add(mapped(child, time, place, 0x1000, 0x5000), nullptr);
    maps.advance(time);
    ASSERT_EQ(find(maps, child, place)->bias, place - 0x5000);
    ASSERT_EQ(find(maps, child, place + 0x2000)->bias, place + 0x2000);
  }
  EXPECT_EQ(maps.refused(), 0u);
  EXPECT_EQ(find(maps, 1, 2 << 20)->bias, uint64_t{2} << 20);
}

// A process and the copies of it that stacks keep, each compared with a list of pages.
TEST_F(SwtraceProcessMaps, CopiesStayAsTheyWereWhileThousandsOfMappingsAreDividedAndReplaced) {
  std::mt19937 random(7);
  using Pages = std::map<uint64_t, uint64_t>;
  Pages pages;
  std::vector<std::pair<std::shared_ptr<const ProcessMap>, Pages>> copies;
  for (uint64_t i = 1; i < 6000; ++i) {
    const uint64_t first = 1 + random() % 4000, place = random() % 1000;
    const uint64_t count = 1 + random() % (random() % 50 == 0 ? 900 : 3);
    maps_.add(mapped(1, i, first << 12, count << 12, place << 12), nullptr);
    maps_.advance(i);
    for (uint64_t page = 0; page < count; ++page) pages[first + page] = place + page;
    if (i % 600 == 0) copies.emplace_back(maps_.of(1), pages);
  }
  copies.emplace_back(maps_.of(1), pages);
  for (const auto& [map, known] : copies)
    for (uint64_t page = 0; page < 5000; ++page) {
      const Mapping* mapping = map->find((page << 12) + 5);
      const auto wanted = known.find(page);
      ASSERT_EQ(mapping != nullptr, wanted != known.end());
      if (!mapping) continue;
      ASSERT_EQ((page << 12) - mapping->bias, wanted->second << 12);
    }
}

}  // namespace
}  // namespace pi::swtrace
