// SPDX-License-Identifier: MIT
// The unwind table of a file: what the builder writes, and what the checker refuses.
#include "table/table.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>

#include "table/table_builder.h"
#include "tables.h"

namespace {

using unwind::Cfa;
using unwind::CfaKind;
using unwind::Row;
using unwind::Rule;
using unwind::Save;
using unwind::SaveKind;
using unwind::Table;
using unwind::TableBuilder;
using unwind::TableHeader;
using unwind_test::owned;

Rule rule_of(int32_t offset) {
  Rule rule;
  rule.cfa = {CfaKind::offset, unwind::stack_pointer, 0, 0, offset, 0, 0};
  rule.saves[unwind::return_address] = {SaveKind::at_cfa, 0, 0, 0, -8};
  return rule;
}

int32_t offset_at(const Table& table, uint64_t address) {
  const auto found = table.find(address);
  return found.cfa->kind == CfaKind::offset ? found.cfa->offset : -1;
}

TEST(UnwindTable, FindsTheRowAtOrBelowAnAddressAndNothingOutsideFunctions) {
  TableBuilder builder;
  builder.begin_function(0x2000, 0x2010);
  builder.add_row(0x2000, rule_of(8));
  builder.add_row(0x2004, rule_of(16));
  builder.begin_function(0x1000, 0x1008);
  builder.add_row(0x1000, rule_of(24));
  const auto table = owned(builder.take());
  EXPECT_EQ(offset_at(table.table, 0xfff), -1);
  EXPECT_EQ(offset_at(table.table, 0x1000), 24);
  EXPECT_EQ(offset_at(table.table, 0x1007), 24);
  EXPECT_EQ(offset_at(table.table, 0x1008), -1);
  EXPECT_EQ(offset_at(table.table, 0x1fff), -1);
  EXPECT_EQ(offset_at(table.table, 0x2003), 8);
  EXPECT_EQ(offset_at(table.table, 0x2004), 16);
  EXPECT_EQ(offset_at(table.table, 0x200f), 16);
  EXPECT_EQ(offset_at(table.table, 0x2010), -1);
  EXPECT_EQ(offset_at(table.table, uint64_t{0x1000} << 32), -1);
}

// Compared with a list, for functions that lie densely, and far from each other.
TEST(UnwindTable, FindsTheSameRowsAsAListWhateverTheirDistances) {
  std::mt19937 random(11);
  for (const uint64_t most : {2u, 40u, 3000u, 4000000u}) {
    TableBuilder builder;
    std::map<uint64_t, int32_t> list;  // from this address on
    uint64_t address = 1 + random() % 5000;
    for (int32_t i = 1; i <= 300; ++i) {
      const uint64_t size = 1 + random() % most;
      builder.begin_function(address, address + size);
      builder.add_row(address, rule_of(8 * i));
      list[address] = 8 * i;
      list.try_emplace(address += size, -1);
      if (i % 40 == 0) address += random() % 1000000;
    }
    const auto table = owned(builder.take());
    list[0] = -1;
    for (const auto& [begin, offset] : list)
      for (const uint64_t place : {begin - 1, begin, begin + 1, begin + random() % 5000}) {
        if (place > UINT32_MAX) continue;
        EXPECT_EQ(offset_at(table.table, place), std::prev(list.upper_bound(place))->second)
            << place;
      }
    EXPECT_EQ(offset_at(table.table, UINT32_MAX), -1);
  }
}

TEST(UnwindTable, TheHigherOfTwoFunctionsThatOverlapIsUsed) {
  TableBuilder builder;
  builder.begin_function(0x1000, 0x1020);
  builder.add_row(0x1000, rule_of(8));
  builder.add_row(0x1018, rule_of(16));
  builder.begin_function(0x1010, 0x1014);
  builder.add_row(0x1010, rule_of(24));
  const auto table = owned(builder.take());
  EXPECT_EQ(offset_at(table.table, 0x100f), 8);
  EXPECT_EQ(offset_at(table.table, 0x1010), 24);
  EXPECT_EQ(offset_at(table.table, 0x1014), -1);
}

TEST(UnwindTable, EqualRulesAreStoredOnceWithTheirRegisters) {
  TableBuilder builder;
  for (uint64_t begin = 0x1000; begin < 0x1100; begin += 0x10) {
    builder.begin_function(begin, begin + 0x10);
    builder.add_row(begin, rule_of(8));
    builder.add_row(begin + 1, rule_of(16));
  }
  const auto table = owned(builder.take());
  EXPECT_EQ(table.table.header().rules, 3u);  // and the one for code without information
  EXPECT_EQ(table.table.header().saves, 2u);
  const auto found = table.table.find(0x1081);
  ASSERT_EQ(found.saves.size(), 1u);
  EXPECT_EQ(found.saves[0].reg, unwind::return_address);
  EXPECT_EQ(found.saves[0].offset, -8);
}

// A table with two rows whose bytes the tests below change.
std::vector<std::byte> two_rows() {
  TableBuilder builder;
  builder.begin_function(0x1000, 0x1010);
  builder.add_row(0x1000, rule_of(8));
  return builder.take();
}

constexpr size_t rows_at = sizeof(TableHeader), rules_at = rows_at + 2 * sizeof(Row),
                 saves_at = rules_at + 2 * sizeof(Cfa);

template <class T, class Change>
bool is_accepted(size_t place, Change change) {
  std::vector<std::byte> bytes = two_rows();
  EXPECT_TRUE(Table::check(bytes));
  T value;
  std::memcpy(&value, bytes.data() + place, sizeof value);
  change(value);
  std::memcpy(bytes.data() + place, &value, sizeof value);
  return Table::check(bytes).has_value();
}

TEST(UnwindTable, NumbersOutOfBoundsAreRefused) {
  EXPECT_FALSE(is_accepted<TableHeader>(0, [](auto& header) { header.magic ^= 1; }));
  EXPECT_FALSE(is_accepted<TableHeader>(0, [](auto& header) { ++header.rows; }));
  EXPECT_FALSE(is_accepted<TableHeader>(0, [](auto& header) { header.rows = UINT32_MAX; }));
  EXPECT_FALSE(is_accepted<TableHeader>(0, [](auto& header) { --header.rules; }));
  EXPECT_FALSE(is_accepted<TableHeader>(0, [](auto& header) { --header.saves; }));
  EXPECT_FALSE(is_accepted<Row>(rows_at, [](auto& row) { row.rule = 2; }));
  EXPECT_FALSE(is_accepted<Row>(rows_at, [](auto& row) { row.address = 0x10; }));
  EXPECT_FALSE(is_accepted<Cfa>(rules_at, [](auto& cfa) { cfa.kind = static_cast<CfaKind>(6); }));
  EXPECT_FALSE(is_accepted<Cfa>(rules_at, [](auto& cfa) { cfa.base = unwind::register_count; }));
  EXPECT_FALSE(is_accepted<Cfa>(rules_at, [](auto& cfa) { cfa.saves = 2; }));
  EXPECT_FALSE(is_accepted<Cfa>(rules_at, [](auto& cfa) { cfa.first = 2; }));
  EXPECT_FALSE(is_accepted<Cfa>(rules_at, [](auto& cfa) { cfa.first = 1, cfa.saves = 1; }));
  EXPECT_FALSE(is_accepted<Save>(saves_at, [](auto& save) { save.reg = unwind::register_count; }));
  EXPECT_FALSE(is_accepted<Save>(saves_at, [](auto& save) { save.base = unwind::register_count; }));
  EXPECT_FALSE(
      is_accepted<Save>(saves_at, [](auto& save) { save.kind = static_cast<SaveKind>(6); }));
  EXPECT_TRUE(is_accepted<Save>(saves_at, [](auto& save) { save.offset = INT32_MIN; }));
}

TEST(UnwindTable, EveryTruncationIsRefused) {
  const std::vector<std::byte> bytes = two_rows();
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(Table::check(std::span(bytes).first(size))) << size;
}

}  // namespace
