// SPDX-License-Identifier: MIT
// log-jlm: columns, order, sums of classes, and to which monitor a blocked get belongs.
#include "locks/lock_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace pi::jprof {
namespace {

using testing::HasSubstr;
using testing::Not;

LockTotals two_monitors() {
  LockTotals totals;
  totals.running = totals.times = true;
  totals.interval = 1'000'000;
  totals.gc = 7;
  totals.monitors = {{"Quiet", 0x1f, false, 10, 5, 20'000}, {"Busy", 0xab, false, 4, 0, 250'000}};
  totals.contended = {{"Busy", 0xab, 1, true}};
  return totals;
}

TEST(LockReport, HasTheColumnsOfEachMonitorAndTheMostContendedFirst) {
  const std::string text = lock_report(two_monitors(), " head\n");
  EXPECT_THAT(text, HasSubstr("Java Lock Monitor Report\n head\nJLM_Interval_Time 1000000\n"));
  EXPECT_THAT(
      text, HasSubstr(" %MISS         GETS       NONREC       SLOW          REC TIER2 TIER3  %UTIL"
                      "     AVER_HTM  MON-NAME\n"
                      " 25.00            4            4          1            0     -     -  25.00"
                      "        62500  Busy@ab\n"
                      "  0.00           15           10          0            5     -     -   2.00"
                      "         2000  Quiet@1f\n\n"));
  EXPECT_THAT(text, HasSubstr("System (Registered) Monitors\n\n  not available on this JVM"));
  EXPECT_THAT(text, HasSubstr("java.util.concurrent"));
}

TEST(LockReport, LeavesOutTimesThatWereNotMeasured) {
  auto totals = two_monitors();
  totals.times = false;
  const std::string text = lock_report(totals, "");
  EXPECT_THAT(text, HasSubstr(" 25.00            4            4          1            0     -     -"
                              "  Busy@ab\n"));
  EXPECT_THAT(text, Not(HasSubstr("AVER_HTM")));
  EXPECT_FALSE(nlohmann::json::parse(lock_json(totals))["monitors"][0].contains("hold_ns"));
}

TEST(LockReport, OfAClassTheBusiestMonitorsAreListedAndTheOthersAdded) {
  LockTotals totals;
  constexpr uint32_t monitors = 30;
  for (uint32_t i = 1; i <= monitors; ++i) totals.monitors.push_back({"Many", i, false, i, 1, 10});
  totals.monitors.push_back({"Many", 0, true, 100, 0, 1});
  const auto table = lock_table(totals);
  ASSERT_EQ(table.rows.size(), 21U);
  const LockRow& sum = table.rows.front();
  EXPECT_TRUE(sum.counts.is_class);
  EXPECT_EQ(sum.counts.nonrecursive, 100U + 10 * 11 / 2);
  EXPECT_EQ(sum.counts.recursive, 10U);
  EXPECT_EQ(sum.counts.held, 101U);
  EXPECT_EQ(table.rows[1].counts.hash, monitors);
  EXPECT_EQ(table.rows.back().counts.hash, 11U);
  EXPECT_THAT(lock_report(totals, ""), HasSubstr("  Many@*\n"));
}

TEST(LockReport, ABlockedGetBelongsToItsMonitorElseToItsClassElseToNone) {
  LockTotals totals;
  totals.monitors = {{"A", 1, false, 9, 0, 0}, {"A", 0, true, 9, 0, 0}, {"B", 1, false, 9, 0, 0}};
  totals.contended = {{"A", 1, 2, true}, {"A", 7, 3, true}, {"B", 1, 4, false}, {"C", 1, 5, true}};
  const auto table = lock_table(totals);
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows[0].slow, 3U);
  EXPECT_TRUE(table.rows[0].counts.is_class);
  EXPECT_EQ(table.rows[1].slow, 2U);
  EXPECT_EQ(table.rows[2].slow, 0U);
  ASSERT_EQ(table.outside.size(), 2U);
  EXPECT_EQ(table.outside[0].name, "B");
  EXPECT_EQ(table.outside[0].count, 4U);
  EXPECT_EQ(table.outside[1].count, 5U);
  EXPECT_THAT(lock_report(totals, ""),
              HasSubstr("Blocked gets of these, by class:\n  4 B\n  5 C\n"));
}

TEST(LockReport, CountsCollisionsAndGetsThatWereLost) {
  LockTotals totals;
  totals.lost = 3;
  totals.monitors = {{"A", 1, false, 9, 0, 0}, {"A", 1, false, 8, 0, 0}};
  EXPECT_EQ(lock_table(totals).collisions, 1U);
  const std::string text = lock_report(totals, "");
  EXPECT_THAT(text, HasSubstr("Not counted for lack of memory: 3 gets"));
  EXPECT_THAT(text, HasSubstr("Ended :: before this report"));
  EXPECT_THAT(text, HasSubstr("which has the SLOW of both: 1\n"));
}

TEST(LockReport, OfManyClassesWithoutProbesForOneReasonTheFirstIsNamed) {
  LockTotals totals;
  totals.uncovered["b/C.m()V"] = "native and synchronized";
  for (int i = 10; i < 40; ++i) totals.uncovered["a/N" + std::to_string(i)] = "too new";
  const std::string text = lock_report(totals, "");
  EXPECT_THAT(text, HasSubstr("  b/C.m()V: native and synchronized\n"));
  EXPECT_THAT(text, HasSubstr("  a/N10 and 29 more: too new\n"));
  EXPECT_THAT(text, Not(HasSubstr("a/N11")));
  const auto json = nlohmann::json::parse(lock_json(totals));
  EXPECT_EQ(json["not_counted"].size(), 31U);
  EXPECT_EQ(json["not_counted"][30]["what"], "b/C.m()V");
}

TEST(LockReport, JsonHasTheSameNumbers) {
  const auto json = nlohmann::json::parse(lock_json(two_monitors()));
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["interval_ns"], 1'000'000);
  EXPECT_EQ(json["gc_ns"], 7);
  const auto& busy = json["monitors"][0];
  EXPECT_EQ(busy["class"], "Busy");
  EXPECT_EQ(busy["hash"], "ab");
  EXPECT_EQ(busy["gets"], 4);
  EXPECT_EQ(busy["slow"], 1);
  EXPECT_EQ(busy["hold_ns"], 250'000);
  EXPECT_EQ(json["monitors"][1]["rec"], 5);
}

}  // namespace
}  // namespace pi::jprof
