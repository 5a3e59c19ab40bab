// SPDX-License-Identifier: MIT
// Lookup in a symbol table and the choice of aliases: examples, and a comparison with a model of
// every byte.
#include "input_stride.h"
#include "symbols/symbol_table.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>

namespace {

using a2n::Binding;
using a2n::Range;
using a2n::SymbolTable;
using a2n::SymbolTableBuilder;

std::string name_at(const SymbolTable& table, uint64_t address) {
  const a2n::Symbol* symbol = table.find(address);
  return symbol ? table.name(*symbol) : "";
}

TEST(SymbolTable, AnEmptyTableFindsNothing) {
  EXPECT_EQ(SymbolTable().find(0), nullptr);
  EXPECT_EQ(SymbolTableBuilder().build({{0, 100}}).find(50), nullptr);
}

TEST(SymbolTable, AliasesAreRankedBySizeKindBindingAndName) {
  const struct {
    uint64_t size_a, size_b;
    const char *a, *b;
    Binding binding_a, binding_b;
    bool function_a, function_b;
  } cases[] = {
      {8, 0, "z_sized_local", "a", Binding::local, Binding::global, true, true},
      {8, 8, "z_function", "a", Binding::local, Binding::global, true, false},
      {8, 8, "z_global", "a", Binding::global, Binding::weak, true, true},
      {8, 8, "z_weak", "a", Binding::weak, Binding::local, true, true},
      {8, 8, "longer", "_a", Binding::global, Binding::global, true, true},
      {8, 8, "zz", "aaa", Binding::global, Binding::global, true, true},
      {8, 8, "aa", "ab", Binding::global, Binding::global, true, true},
  };
  for (const auto& pair : cases) {
    for (const bool swapped : {false, true}) {
      SymbolTableBuilder builder;
      if (swapped) builder.add(10, pair.size_b, pair.b, pair.binding_b, pair.function_b);
      builder.add(10, pair.size_a, pair.a, pair.binding_a, pair.function_a);
      if (!swapped) builder.add(10, pair.size_b, pair.b, pair.binding_b, pair.function_b);
      EXPECT_EQ(name_at(builder.build({{0, 100}}), 10), pair.a);
    }
  }
}

TEST(SymbolTable, ASymbolWithoutSizeEndsAtTheNextOneOrItsRegion) {
  SymbolTableBuilder builder;
  builder.add(10, 0, "first", Binding::global, true);
  builder.add(30, 5, "second", Binding::global, true);
  builder.add(50, 0, "third", Binding::global, true);
  const SymbolTable table = builder.build({{0, 60}, {80, 90}});
  EXPECT_EQ(name_at(table, 29), "first");
  EXPECT_EQ(name_at(table, 34), "second");
  EXPECT_EQ(name_at(table, 35), "");
  EXPECT_EQ(name_at(table, 59), "third");
  EXPECT_EQ(name_at(table, 60), "");
  EXPECT_TRUE(table.find(10)->size_guessed);
  EXPECT_FALSE(table.find(30)->size_guessed);
}

TEST(SymbolTable, SymbolsOutsideTheRegionsAreDropped) {
  SymbolTableBuilder builder;
  builder.add(10, 100, "reaches_out", Binding::global, true);
  builder.add(60, 10, "outside", Binding::global, true);
  const SymbolTable table = builder.build({{0, 50}});
  EXPECT_EQ(table.size(), 1u);
  EXPECT_EQ(name_at(table, 49), "reaches_out");
  EXPECT_EQ(name_at(table, 50), "");
  EXPECT_EQ(name_at(table, 65), "");
}

TEST(SymbolTable, AnOuterFunctionContinuesAfterAnInnerOne) {
  SymbolTableBuilder builder;
  builder.add(0, 100, "outer", Binding::global, true);
  builder.add(40, 20, "inner", Binding::global, true);
  builder.add(45, 5, "innermost", Binding::global, true);
  const SymbolTable table = builder.build({{0, 200}});
  EXPECT_EQ(name_at(table, 39), "outer");
  EXPECT_EQ(name_at(table, 44), "inner");
  EXPECT_EQ(name_at(table, 45), "innermost");
  EXPECT_EQ(name_at(table, 50), "inner");
  EXPECT_EQ(name_at(table, 60), "outer");
  EXPECT_EQ(name_at(table, 99), "outer");
  EXPECT_EQ(name_at(table, 100), "");
}

TEST(SymbolTable, SizesThatWrapAroundAreLimited) {
  SymbolTableBuilder builder;
  builder.add(UINT64_MAX - 5, UINT64_MAX, "top", Binding::global, true);
  builder.add(10, UINT64_MAX, "huge", Binding::global, true);
  const SymbolTable table = builder.build({{0, UINT64_MAX}});
  EXPECT_EQ(name_at(table, UINT64_MAX - 1), "top");
  EXPECT_EQ(name_at(table, 4'000'000'000), "huge");
  EXPECT_EQ(name_at(table, 9), "");
}

// The model: of the sized symbols that contain a byte, the innermost one, which begins last.
TEST(SymbolTable, AgreesWithAModelOfEveryByte) {
  std::mt19937 random(7);
  for (size_t round = 0; round < test_support::rounds(400); ++round) {
    constexpr uint64_t bytes = 300;
    std::deque<std::string> names;
    std::map<uint64_t, std::pair<uint64_t, std::string>> sized;  // start: size, name
    SymbolTableBuilder builder;
    for (size_t i = 0; i < 1 + random() % 40; ++i) {
      const uint64_t start = random() % bytes;
      const uint64_t size = 1 + random() % (random() % 4 ? 12 : 150);
      if (sized.contains(start)) continue;
      names.push_back("f" + std::to_string(start));
      sized[start] = {size, names.back()};
      builder.add(start, size, names.back(), Binding::global, true);
    }
    const SymbolTable table = builder.build({{0, bytes}});
    for (uint64_t at = 0; at < bytes + 10; ++at) {
      std::string expected;
      for (const auto& [start, symbol] : sized) {
        if (at < bytes && start <= at && at < start + symbol.first) expected = symbol.second;
      }
      ASSERT_EQ(name_at(table, at), expected) << "round " << round << " byte " << at;
    }
  }
}

}  // namespace
