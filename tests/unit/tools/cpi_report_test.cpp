// SPDX-License-Identifier: MIT
// Reports of cycles per instruction.
#include "report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace pi::cpi {
namespace {

// Known sums: ratios 2, 1.5 and 1.25 on CPU 0, none on CPU 1, which completed no instruction.
class CpiReport : public ::testing::Test {
 protected:
  CpiReport() {
    data_.elapsed_ns = 1'500'000'000;
    data_.cpu_count = 2;
    data_.cpus = cpus_;
    data_.system = cpus_[0];
    data_.system.cpu = ALL_CPUS;
    data_.thread = cpus_[0];
  }
  pi_cpi cpus_[2] = {{0, 1'500'000'000, 2000, 1500, 1250, 1000, 2, 1.5, 1.25},
                     {1, 1'500'000'000, 2000, 0, 0, 0, 0, 0, 0}};
  cpi_data data_{};
};

TEST_F(CpiReport, TheTableHasEveryCpuAndTheSystem) {
  EXPECT_EQ(system_text(data_, false),
            " CPI of all CPUs, 1.500 seconds\n"
            "  CPU       Instructions             Cycles        Busy cycles      Active cycles   "
            "Raw CPI    Scaled       CPI\n"
            "    0               1000               2000               1500               1250     "
            "2.000     1.500     1.250\n"
            "    1                  0               2000                  0                  0     "
            "    -         -         -\n"
            "  All               1000               2000               1500               1250     "
            "2.000     1.500     1.250\n");
}

TEST_F(CpiReport, TheSystemReportHasNoCpuLines) {
  EXPECT_EQ(system_text(data_, true).find("\n    0 "), std::string::npos);
  EXPECT_FALSE(system_json(data_, true).contains("cpus"));
}

TEST_F(CpiReport, WithoutInstructionsThereIsNoRatio) {
  const auto json = nlohmann::json::parse(system_json(data_, false).dump());
  EXPECT_EQ(json["cpus"][0]["cpi"], 1.25);
  EXPECT_TRUE(json["cpus"][1]["cpi"].is_null());
  EXPECT_EQ(json["system"]["raw_cpi"], 2);
}

TEST_F(CpiReport, ACommandHasItsOwnCountsOnly) {
  EXPECT_EQ(command_text(data_, "make"),
            " CPI of make and all that it started\n"
            " Elapsed seconds : 1.500\n"
            " CPU seconds     : 1.500\n"
            " Instructions    : 1000\n"
            " Active cycles   : 1250\n"
            " CPI             : 1.250\n");
  EXPECT_FALSE(command_json(data_, "make").contains("raw_cpi"));
}

}  // namespace
}  // namespace pi::cpi
