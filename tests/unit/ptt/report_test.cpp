// SPDX-License-Identifier: MIT
// ptt dump's table, as text and as JSON.
#include "report.h"

#include <gtest/gtest.h>

#include <cstring>

#include <nlohmann/json.hpp>

namespace pi::ptt {
namespace {

pitrace_ptt_thread row(uint32_t pid, uint32_t tid, const char* name, uint64_t dispatches,
                       uint64_t interrupts, uint64_t cycles, uint64_t instructions) {
  pitrace_ptt_thread thread{};
  thread.pid = pid;
  thread.tid = tid;
  thread.dispatches = dispatches;
  thread.interrupts = interrupts;
  thread.value[0] = cycles;
  thread.value[1] = instructions;
  std::strncpy(thread.name, name, sizeof thread.name);
  return thread;
}

class PttReport : public testing::Test {
 protected:
  PttReport() {
    rows_ = {row(900, 900, "sh", 3, 0, 50, 0), row(812, 820, "gc", 1904, 122, 612300911, 488120007),
             row(812, 812, "java", 41, 3, 9182734, 5310022)};
    state_.active = state_.ints = 1;
    state_.metrics = 2;
    std::strcpy(state_.name[0], "CYCLES");
    std::strcpy(state_.name[1], "INSTR");
    stats_.threads = static_cast<uint32_t>(rows_.size());
    stats_.thread = rows_.data();
  }
  Report report(const std::vector<std::string>& wanted = {}, const View& view = {}) {
    Report made = make_report(stats_, state_, wanted);
    sort_threads(made, view);
    return made;
  }
  std::vector<pitrace_ptt_thread> rows_;
  pi_ptt_state state_{};
  ptt_stats stats_{};
};

TEST_F(PttReport, HasTheClassicTable) {
  EXPECT_EQ(report_text(report(), {}),
            " PID 812 is java\n"
            " PID 900 is sh\n"
            " PTT Facility Per-Thread Information\n"
            "      PID      TID      Disp      Intr           CYCLES            INSTR\n"
            "      812      812        41         3          9182734          5310022\n"
            "      812      820      1904       122        612300911        488120007\n"
            "      812               1945       125        621483645        493430029\n"
            "      900      900         3         0               50                0\n");
}

TEST_F(PttReport, SortsCountsDescendingAndIdsAscending) {
  View view;
  view.key = SortKey::metric;
  EXPECT_EQ(report({}, view).threads.front().tid, 820u);
  view.ascending = true;
  EXPECT_EQ(report({}, view).threads.front().tid, 900u);
  view = {};
  view.key = SortKey::tid;
  EXPECT_EQ(report({}, view).threads.front().tid, 812u);
  view.ascending = false;
  EXPECT_EQ(report({}, view).threads.front().tid, 900u);
  view = {};
  view.key = SortKey::interrupts;
  EXPECT_EQ(report({}, view).threads.front().interrupts, 122u);
}

TEST_F(PttReport, ShowsSelectedProcessesAndReportsUnknownOnes) {
  const std::string text = report_text(report({"java", "77"}), {});
  EXPECT_EQ(text.find("      900"), std::string::npos);
  EXPECT_NE(text.find("      812      820"), std::string::npos);
  EXPECT_NE(text.find("       77 - no data\n"), std::string::npos);
}

TEST_F(PttReport, ShowsCyclesPerInstruction) {
  View view;
  view.cpi = true;
  const std::string text = report_text(report(), view);
  EXPECT_NE(text.find("          9182734          5310022     1.73\n"), std::string::npos) << text;
  EXPECT_NE(text.find("               50                0        -\n"), std::string::npos) << text;
  std::strcpy(state_.name[1], "page-faults");
  EXPECT_FALSE(cpi_metrics(report()));
}

TEST_F(PttReport, ReportsThreadsWithoutARow) {
  stats_.forgotten_threads = 7;
  stats_.forgotten_dispatches = 70;
  stats_.forgotten[0] = 700;
  stats_.without_account_dispatches = 5;
  stats_.without_account[1] = 11;
  const std::string text = report_text(report(), {});
  EXPECT_NE(
      text.find(" 7 further threads have ended, and their accounts were reused. Their sum:\n"),
      std::string::npos);
  EXPECT_NE(text.find("    ended                 70         0              700                0\n"),
            std::string::npos)
      << text;
  EXPECT_NE(
      text.find(" Some threads had no account because the table was full ('ptt init -threads' "
                "makes it larger). Their sum:\n"),
      std::string::npos);
  EXPECT_NE(text.find("   others                  5         0                0               11\n"),
            std::string::npos)
      << text;
}

TEST_F(PttReport, ANameCannotChangeTheTable) {
  rows_[0] = row(900, 900, "a\nb\x1b[2J", 1, 1, 1, 1);
  View view;
  view.names = true;
  EXPECT_NE(report_text(report(), view).find("  a\\x0ab\\x1b[2J\n"), std::string::npos);
}

TEST_F(PttReport, JsonHasTheSameContent) {
  rows_[1].flags = PITRACE_PTT_ENDED;
  const auto json = nlohmann::json::parse(report_json(report(), {}));
  EXPECT_EQ(json["metrics"], (nlohmann::json{"CYCLES", "INSTR"}));
  ASSERT_EQ(json["threads"].size(), 3u);
  EXPECT_EQ(json["threads"][1]["tid"], 820);
  EXPECT_EQ(json["threads"][1]["ended"], true);
  EXPECT_EQ(json["threads"][1]["values"]["INSTR"], 488120007);
  EXPECT_EQ(json["processes"][0], (nlohmann::json{{"pid", 812}, {"name", "java"}}));
}

}  // namespace
}  // namespace pi::ptt
