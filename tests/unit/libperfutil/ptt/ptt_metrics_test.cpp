// SPDX-License-Identifier: MIT
// PTT's metrics: numbers and names, and the order in which errors are reported.
#include "ptt/ptt_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perfutil_ptt.h"

namespace pi::perfutil {
namespace {

int error_of(std::vector<int> ids, int priv = PI_PRIV_BOTH) {
  const auto metrics = ptt_metrics(std::span<const int>(ids), priv);
  return metrics ? PU_SUCCESS : metrics.error().code;
}

TEST(PttMetrics, CyclesNeedNoCounter) {
  const std::vector<int> ids{PTT_METRIC_CYCLES};
  const auto metrics = ptt_metrics(std::span<const int>(ids), PI_PRIV_BOTH);
  ASSERT_TRUE(metrics);
  EXPECT_TRUE(metrics->front().is_cycles());
  EXPECT_EQ(metrics->front().name, "CYCLES");
  EXPECT_EQ(to_abi(metrics->front()).kind, static_cast<__u32>(PITRACE_PTT_CYCLES));
}

TEST(PttMetrics, ErrorsAreReportedInTheClassicOrder) {
  EXPECT_EQ(error_of({}), PU_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(error_of({1, 1, 3, 4, 5, 6, 7, 8, 999}), PU_ERROR_TOO_MANY_METRICS);
  EXPECT_EQ(error_of({999, 0, 101, 101}), PU_ERROR_INVALID_METRIC);
  EXPECT_EQ(error_of({0, 101, 101}), PU_ERROR_MIXED_METRICS);
  EXPECT_EQ(error_of({255, 255}), PU_ERROR_DUPLICATE_METRICS);
  EXPECT_EQ(error_of({0, 1}), PU_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(error_of({255}, 0), PU_ERROR_INVALID_PRIVILEGE);
  EXPECT_EQ(error_of({110}), PU_ERROR_EVENT_NOT_SUPPORTED);
  EXPECT_EQ(error_of({255, 254, PI_PTT_METRIC_PAGE_FAULTS}), PU_SUCCESS);
}

TEST(PttMetrics, NamesAreFoundWhateverTheirCase) {
  const std::vector<std::string> names{"cycles", "instr", "page-faults"};
  const auto metrics = ptt_metrics(std::span<const std::string>(names), PI_PRIV_USER);
  ASSERT_TRUE(metrics);
  EXPECT_EQ((*metrics)[0].id, PTT_METRIC_CYCLES);
  EXPECT_EQ((*metrics)[1].id, PTT_METRIC_INSTR);
  EXPECT_EQ((*metrics)[2].id, PI_PTT_METRIC_PAGE_FAULTS);
  EXPECT_EQ(to_abi((*metrics)[1]).flags, static_cast<__u32>(PITRACE_PTT_NO_KERNEL));
}

TEST(PttMetrics, AnActivePttIsJoinedWhenItsFirstMetricsAreTheSame) {
  const std::vector<std::string> names{"CYCLES", "page-faults"};
  const auto metrics = ptt_metrics(std::span<const std::string>(names), PI_PRIV_BOTH);
  ASSERT_TRUE(metrics);
  pitrace_ptt_info info{};
  EXPECT_FALSE(ptt_has(info, *metrics));
  info.metrics = 3;
  for (size_t i = 0; i < 2; ++i) info.metric[i] = to_abi((*metrics)[i]);
  EXPECT_TRUE(ptt_has(info, *metrics));
  std::swap(info.metric[0], info.metric[1]);
  EXPECT_FALSE(ptt_has(info, *metrics));
}

}  // namespace
}  // namespace pi::perfutil
