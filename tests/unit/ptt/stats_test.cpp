// SPDX-License-Identifier: MIT
// pttstats' report in the classic form.
#include "stats.h"

#include <gtest/gtest.h>

#include <cstring>

#include <nlohmann/json.hpp>

namespace pi::pttstats {
namespace {

class PttStats : public testing::Test {
 protected:
  PttStats() {
    cpu_.cpu = 1;
    cpu_.dispatches = 13;
    cpu_.interrupts = 4;
    cpu_.idle_dispatches = 5;
    cpu_.idle_interrupts = 3;
    cpu_.tool = 10;
    cpu_.elapsed[0] = 1000;
    cpu_.interrupt[0] = 90;
    cpu_.idle[0] = 600;
    for (uint32_t i = 0; i < 2; ++i) {
      threads_[i].pid = 671;
      threads_[i].tid = 671 + i;
      threads_[i].dispatches = 4;
      threads_[i].value[0] = 150;
    }
    threads_[1].interrupts = 1;
    stats_.threads = 2;
    stats_.thread = threads_;
    stats_.cpus = 1;
    stats_.cpu = &cpu_;
    state_.metrics = 1;
    state_.metric[0] = PTT_METRIC_CYCLES;
    std::strcpy(state_.name[0], "CYCLES");
    std::strcpy(state_.unit[0], "cycles");
  }
  pitrace_ptt_cpu cpu_{};
  pitrace_ptt_thread threads_[2]{};
  ptt_stats stats_{};
  pi_ptt_state state_{};
};

TEST_F(PttStats, HaveTheClassicReport) {
  EXPECT_EQ(stats_text(stats_, state_, 0, 2040024),
            "Tools version 2040024\n"
            "PTT_STATISTICS_SIZE = " +
                std::to_string(2 * sizeof(pitrace_ptt_thread) + sizeof(pitrace_ptt_cpu)) +
                " bytes\n"
                "IBM_NR_CPUS = 1 (number of CPUs)\n"
                "Metric = CYCLES\n"
                "Unit of all times = cycles\n"
                "Per Thread Time Summary\n"
                "Total Dispatches: 13\n"
                "Total IRQs: 4\n"
                "Total Thread Time: 300\n"
                "Total IRQ Time: 90\n"
                "Total Idle Time: 600\n"
                "Total tool time: 10\n"
                "Total Measurement: 990\n"
                "Total Period: 1000\n"
                "Per Thread Time Detail\n"
                "Details by CPU\n"
                "           IRQ      Dispatch\n"
                "CPU      Count         Count  Times\n"
                "----------------------------------------------------\n"
                "1            4            13\n"
                "                  Thread Time:  300\n"
                "                     IRQ Time:  90\n"
                "                    Idle Time:  600\n"
                "                    Tool Time:  10\n"
                "                   Total Time:  1000\n"
                "Details by Process\n"
                "            Dispatch         IRQ             Process\n"
                "PID            Count       Count                Time\n"
                "----------------------------------------------------\n"
                "0                  5           3                 600\n"
                "671                8           1                 300\n"
                "Total Process Time: 900\n"
                "End of reports\n");
}

TEST_F(PttStats, TheUnitOfAnEventIsItsName) {
  std::strcpy(state_.name[0], "page-faults");
  std::strcpy(state_.unit[0], "events");
  const std::string text = stats_text(stats_, state_, 0, 1);
  EXPECT_NE(text.find("Metric = page-faults\nUnit of all times = page-faults\n"), std::string::npos)
      << text;
  std::strcpy(state_.unit[0], "nanoseconds");
  EXPECT_NE(stats_text(stats_, state_, 0, 1).find("\nUnit of all times = nanoseconds\n"),
            std::string::npos);
}

TEST_F(PttStats, CounterMetricsIncludeToolTimeInThreadTime) {
  state_.metric[0] = PTT_METRIC_INSTR;
  const std::string text = stats_text(stats_, state_, 0, 1);
  EXPECT_NE(text.find("Total tool time: 0\n"), std::string::npos);
  EXPECT_NE(text.find("Total Thread Time: 310\n"), std::string::npos);
}

TEST_F(PttStats, ALostCounterIsReported) {
  cpu_.flags = PITRACE_PTT_CPU_COUNTERS_LOST;
  EXPECT_NE(stats_text(stats_, state_, 0, 1)
                .find("Warning: a counter of CPU 1 was not available for some time: its counts are "
                      "too low\n"),
            std::string::npos);
}

TEST_F(PttStats, JsonHasTheSameContent) {
  const auto json = nlohmann::json::parse(stats_json(stats_, state_));
  EXPECT_EQ(json["metrics"][0]["system"]["thread"], 300);
  EXPECT_EQ(json["metrics"][0]["cpus"][0]["tool"], 10);
  EXPECT_EQ(json["metrics"][0]["processes"][1],
            (nlohmann::json{{"pid", 671}, {"dispatches", 8}, {"interrupts", 1}, {"time", 300}}));
}

}  // namespace
}  // namespace pi::pttstats
