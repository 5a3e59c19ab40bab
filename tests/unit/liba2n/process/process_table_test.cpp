// SPDX-License-Identifier: MIT
// Processes over time: forks, clones, execs and reused pids; examples, and a comparison with a
// model.
#include "process/process_table.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>

namespace {

using a2n::ProcessTable;

constexpr char first_name[] = "first";
constexpr char second_name[] = "second";

// The tag mapped at an address, or 0.
uint32_t tag_at(const ProcessTable& table, uint32_t pid, uint64_t address, uint64_t time) {
  const a2n::Space* space = table.find(pid, time);
  const auto piece = space ? space->map.find(address, time) : std::nullopt;
  return piece ? piece->tag : 0;
}

TEST(ProcessTable, AForkCopiesMappingsAndName) {
  ProcessTable table;
  table.create(1, 10);
  table.set_name(1, first_name, 10);
  table.add(1, 0, 100, 7, 11);
  table.fork(1, 2, 20);
  EXPECT_EQ(table.find(2, 19), nullptr);
  EXPECT_EQ(tag_at(table, 2, 50, 20), 7u);
  EXPECT_EQ(table.name(2, 20), first_name);
  table.add(2, 0, 100, 8, 30);
  table.set_name(2, second_name, 30);
  EXPECT_EQ(tag_at(table, 1, 50, 40), 7u);
  EXPECT_EQ(tag_at(table, 2, 50, 40), 8u);
  EXPECT_EQ(tag_at(table, 2, 50, 29), 7u);
  EXPECT_EQ(table.name(1, 40), first_name);
  EXPECT_EQ(table.name(2, 40), second_name);
  EXPECT_EQ(table.find(2, 40)->owner, 2u);
}

TEST(ProcessTable, ACloneSharesTheSpaceUntilItExecs) {
  ProcessTable table;
  table.create(1, 0);
  table.clone(1, 2, 10);
  table.clone(2, 3, 11);
  table.add(3, 0, 100, 5, 12);
  EXPECT_EQ(tag_at(table, 1, 1, 12), 5u);
  EXPECT_EQ(tag_at(table, 2, 1, 12), 5u);
  EXPECT_EQ(table.find(3, 12)->owner, 1u);
  table.exec(3, 20);
  EXPECT_EQ(tag_at(table, 3, 1, 20), 0u);
  EXPECT_EQ(tag_at(table, 3, 1, 19), 5u);
  EXPECT_EQ(table.find(3, 20)->owner, 3u);
  table.add(1, 0, 100, 6, 21);
  EXPECT_EQ(tag_at(table, 2, 1, 21), 6u);
  EXPECT_EQ(tag_at(table, 3, 1, 21), 0u);
}

TEST(ProcessTable, AnExecKeepsTheNameUntilAnotherIsSet) {
  ProcessTable table;
  table.set_name(1, first_name, 1);
  table.exec(1, 5);
  EXPECT_EQ(table.name(1, 5), first_name);
  table.set_name(1, second_name, 6);
  EXPECT_EQ(table.name(1, 5), first_name);
  EXPECT_EQ(table.name(1, 6), second_name);
}

TEST(ProcessTable, AReusedPidIsASecondProcess) {
  ProcessTable table;
  table.create(1, 0);
  table.set_name(1, first_name, 0);
  table.fork(1, 9, 10);
  table.add(9, 0, 100, 1, 11);
  table.create(2, 15);
  table.fork(2, 9, 20);
  EXPECT_EQ(tag_at(table, 9, 1, 19), 1u);
  EXPECT_EQ(tag_at(table, 9, 1, 20), 0u);
  EXPECT_EQ(table.name(9, 19), first_name);
  EXPECT_EQ(table.name(9, 20), nullptr);
}

TEST(ProcessTable, APidIsUnknownBeforeItsFirstEvent) {
  ProcessTable table;
  table.add(4, 0, 100, 1, 50);
  EXPECT_EQ(table.find(4, 49), nullptr);
  EXPECT_EQ(table.name(4, 49), nullptr);
  EXPECT_EQ(tag_at(table, 4, 1, 50), 1u);
  EXPECT_EQ(table.find(5, 50), nullptr);
}

TEST(ProcessTable, EarlierTimesCountAsTheNewest) {
  ProcessTable table;
  table.create(1, 100);
  table.exec(1, 50);
  table.add(1, 0, 100, 3, 20);
  EXPECT_EQ(tag_at(table, 1, 1, 99), 0u);
  EXPECT_EQ(tag_at(table, 1, 1, 100), 3u);
}

// Each pid has a space, each space a tag for each page; all states of a pid are stored.
class ProcessModel {
 public:
  static constexpr uint32_t pids = 10;
  static constexpr size_t pages = 16;
  using State = std::array<uint32_t, pages>;

  void begin(uint32_t pid, uint64_t time, const State& state) {
    space_of_[pid] = ++spaces_;
    record(pid, time, state);
  }
  void fork(uint32_t from, uint32_t to, uint64_t time) { begin(to, time, now(from, time)); }
  void clone(uint32_t from, uint32_t to, uint64_t time) {
    const State state = now(from, time);
    space_of_[to] = space_of_[from];
    record(to, time, state);
  }
  void add(uint32_t pid, size_t begin, size_t end, uint32_t tag, uint64_t time) {
    State state = now(pid, time);
    for (size_t i = begin; i < end; ++i) state[i] = tag;
    const uint32_t space = space_of_[pid];
    for (const auto& [sharer, its_space] : space_of_) {
      if (its_space == space) record(sharer, time, state);
    }
  }
  uint32_t at(uint32_t pid, size_t page, uint64_t time) const {
    const auto found = history_.find(pid);
    if (found == history_.end()) return 0;
    auto after = found->second.upper_bound(time);
    return after == found->second.begin() ? 0 : std::prev(after)->second[page];
  }

 private:
  State now(uint32_t pid, uint64_t time) {
    if (history_[pid].empty()) begin(pid, time, {});
    return history_[pid].rbegin()->second;
  }
  void record(uint32_t pid, uint64_t time, const State& state) { history_[pid][time] = state; }

  std::map<uint32_t, std::map<uint64_t, State>> history_;
  std::map<uint32_t, uint32_t> space_of_;
  uint32_t spaces_ = 0;
};

TEST(ProcessTable, AgreesWithAModelForRandomEvents) {
  std::mt19937 random(20240501);
  const auto below = [&random](size_t limit) { return random() % limit; };
  ProcessTable table;
  ProcessModel model;
  uint64_t time = 0;
  for (uint32_t tag = 1; tag <= 100'000; ++tag) {
    time += below(3);
    const auto pid = static_cast<uint32_t>(below(ProcessModel::pids));
    const auto other =
        static_cast<uint32_t>((pid + 1 + below(ProcessModel::pids - 1)) % ProcessModel::pids);
    const size_t choice = below(100);
    if (choice < 80) {
      const size_t begin = below(ProcessModel::pages);
      const size_t end = begin + 1 + below(ProcessModel::pages - begin);
      table.add(pid, begin * 4096, end * 4096, tag, time);
      model.add(pid, begin, end, tag, time);
    } else if (choice < 88) {
      table.fork(pid, other, time);
      model.fork(pid, other, time);
    } else if (choice < 93) {
      table.clone(pid, other, time);
      model.clone(pid, other, time);
    } else if (choice < 98) {
      table.exec(pid, time);
      model.begin(pid, time, {});
    } else {
      table.create(pid, time);
      model.begin(pid, time, {});
    }
    for (int k = 0; k < 3; ++k) {
      const auto asked = static_cast<uint32_t>(below(ProcessModel::pids));
      const size_t page = below(ProcessModel::pages);
      const uint64_t when = k == 0 ? time : below(time + 1);
      ASSERT_EQ(tag_at(table, asked, page * 4096 + 1, when), model.at(asked, page, when))
          << "pid " << asked << " page " << page << " at " << when << ", now " << time;
    }
  }
}

}  // namespace
