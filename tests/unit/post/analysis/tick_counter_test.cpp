// SPDX-License-Identifier: MIT
// The caches before the symbolizer: exact counts, one lookup for each address, no stale name.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "post_run.h"

namespace {

using namespace test_support;
using pi::nrm2::section_mte;
using pi::nrm2::section_trace;

TEST(TickCounter, CountsExactlyForEveryNumberOfTicks) {
  for (uint32_t count = 0; count < 50; ++count) {
    RecordBuilder records;
    for (uint32_t i = 0; i < count; ++i) records.tick(i, true, 1, 1, i % 5);
    TraceBuilder trace;
    trace.section(section_trace, {}, records.bytes());
    FakeSymbolizer symbolizer;
    const PostRun run = run_post(trace.bytes(), symbolizer);
    ASSERT_EQ(run.ticks.ticks, count);
    ASSERT_EQ(run.ticks.no_module, count);
  }
}

TEST(TickCounter, LooksUpEachUserAndKernelAddressOnce) {
  RecordBuilder records;
  for (uint32_t i = 0; i < 1000; ++i)
    for (const uint32_t pid : {1u, 2u, 3u}) {
      records.tick(i, true, pid, pid, 0x1000);
      records.tick(i, false, pid, pid, 0xffffffff81000000);
    }
  TraceBuilder trace;
  trace.section(section_trace, {}, records.bytes());
  FakeSymbolizer symbolizer;
  run_post(trace.bytes(), symbolizer);
  EXPECT_EQ(symbolizer.lookups, 4u);
}

// More addresses than the caches hold, compared with a plain count.
TEST(TickCounter, CountsExactlyWhenTheCachesOverflow) {
  std::mt19937 random(5);
  RecordBuilder records;
  std::map<uint64_t, uint64_t> expected;
  for (uint32_t i = 0; i < 60'000; ++i) {
    const uint64_t address = 0x1000 + random() % 20'000;
    ++expected[address];
    records.tick(i, true, 1, 1, address);
  }
  RecordBuilder names;
  names.module(0, {1, 0, 0x1000, 20'000, 0, 0}, "/bin/a");
  TraceBuilder trace;
  trace.section(section_mte, {}, names.bytes()).section(section_trace, {}, records.bytes());
  FakeSymbolizer symbolizer;
  post::MemorySource source(trace.bytes());
  post::DamageLog damage;
  auto file = read_layout(source, damage);
  ASSERT_TRUE(file);
  post::StringTable table;
  post::Processes processes(symbolizer, table);
  post::TickCounter ticks(processes, symbolizer, table, {.offsets = true, .sets = 1024});
  collect_fallback_names(source, *file, processes);
  post::Subscriptions subscriptions;
  ticks.subscribe(subscriptions);
  processes.subscribe(subscriptions);
  run_pipeline(source, *file, damage, {}, subscriptions, nullptr);
  ASSERT_EQ(ticks.tree().leaves().size(), expected.size());
  for (const post::Leaf& leaf : ticks.tree().leaves())
    ASSERT_EQ(leaf.ticks, expected[0x1000 + leaf.path[4]]);
  EXPECT_EQ(ticks.totals().no_symbol, 60'000u);
}

TEST(TickCounter, TotalsNeedNoNames) {
  RecordBuilder records;
  records.tick(10, true, 1, 1, 0x1000).tick(30, true, 1, 1, 0x2000);
  TraceBuilder trace;
  trace.section(section_trace, {}, records.bytes());
  FakeSymbolizer symbolizer;
  post::MemorySource source(trace.bytes());
  post::DamageLog damage;
  auto file = read_layout(source, damage);
  ASSERT_TRUE(file);
  post::StringTable table;
  post::Processes processes(symbolizer, table);
  post::TickCounter ticks(processes, symbolizer, table, {.totals_only = true});
  post::Subscriptions subscriptions;
  ticks.subscribe(subscriptions);
  run_pipeline(source, *file, damage, {}, subscriptions, nullptr);
  EXPECT_EQ(ticks.totals().ticks, 2u);
  EXPECT_EQ(ticks.totals().first_time, 10u);
  EXPECT_EQ(ticks.totals().last_time, 30u);
  EXPECT_TRUE(ticks.tree().leaves().empty());
  EXPECT_EQ(symbolizer.lookups, 0u);
}

// Mappings change between ticks: each tick must use the newest one.
TEST(TickCounter, NeverUsesAStaleName) {
  std::mt19937 random(9);
  RecordBuilder names(false);
  RecordBuilder ticks(false);
  std::map<std::string, uint64_t> expected;
  std::string module = "NoModule";
  for (uint32_t i = 1; i < 5000; ++i) {
    if (random() % 3 == 0) {
      module = "/lib/" + std::to_string(random() % 50);
      names.module(i * 10, {1, 0, 0x1000, 0x1000, 0, 0}, module);
    }
    ticks.tick(i * 10 + 5, true, 1, 1, 0x1800);
    ++expected[module];
  }
  TraceBuilder trace;
  trace.section(section_mte, {}, names.bytes()).section(section_trace, {}, ticks.bytes());
  FakeSymbolizer symbolizer;
  post::Options options;
  options.report.clip_percent = 0;
  const std::string report = run_post(trace.bytes(), symbolizer, options).tprof;
  for (const auto& [name, count] : expected)
    EXPECT_NE(report.find(fmt::format(" MOD    {:>6} {:5.2f}   {}\n", count,
                                      100.0 * static_cast<double>(count) / 4999, name)),
              std::string::npos)
        << name << " " << count;
}

}  // namespace
