// SPDX-License-Identifier: MIT
// The exact tests against values computed with whole-number arithmetic, and their limits.
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/significance.h"

namespace {

using post::noise_limit;
using post::sigmas_of_rates;
using post::sigmas_of_shares;

TEST(Significance, SharesAgreeWithFishersExactTest) {
  EXPECT_NEAR(sigmas_of_shares(0, 100, 10, 100), 3.166651, 1e-5);
  EXPECT_NEAR(sigmas_of_shares(10, 100, 0, 100), -3.166651, 1e-5);
  EXPECT_NEAR(sigmas_of_shares(9500, 10000, 9600, 10000), 3.379834, 1e-5);
  EXPECT_NEAR(sigmas_of_shares(5, 20, 15, 20), 2.890399, 1e-5);
  EXPECT_NEAR(sigmas_of_shares(3, 1000, 12, 500), 3.463849, 1e-5);
  EXPECT_NEAR(sigmas_of_shares(20, 20, 0, 20), -6.75273, 1e-5);
}

// One tick in ten against none in a thousand: a normal approximation would give 10 sigmas.
TEST(Significance, FewTicksAreNotSignificant) {
  EXPECT_NEAR(sigmas_of_shares(0, 1000, 1, 10), 2.330079, 1e-5);
  EXPECT_LT(std::abs(sigmas_of_shares(0, 10, 1, 10)), 1);
}

TEST(Significance, RatesAgreeWithTheExactPoissonTest) {
  EXPECT_NEAR(sigmas_of_rates(0, 1, 10, 1), 3.097269, 1e-5);
  EXPECT_NEAR(sigmas_of_rates(100, 1000, 150, 1000), 3.108044, 1e-5);
  EXPECT_NEAR(sigmas_of_rates(150, 1000, 100, 1000), -3.108044, 1e-5);
  EXPECT_NEAR(sigmas_of_rates(10, 5, 2, 10), -3.266825, 1e-5);
}

TEST(Significance, EqualValuesAreNotSignificant) {
  EXPECT_EQ(sigmas_of_shares(50, 100, 50, 100), 0);
  EXPECT_EQ(sigmas_of_shares(100, 100, 100, 100), 0);
  EXPECT_EQ(sigmas_of_rates(100, 1, 200, 2), 0);
}

TEST(Significance, EmptyInputsAreNotSignificant) {
  EXPECT_EQ(sigmas_of_shares(0, 100, 0, 100), 0);
  EXPECT_EQ(sigmas_of_shares(0, 0, 1, 1), 0);
  EXPECT_EQ(sigmas_of_rates(1, 0, 1, 1), 0);
}

// Large counts, where the normal approximation holds: 1 % of 10^8 ticks against 1.01 %.
TEST(Significance, AgreesWithTheNormalApproximationForManyTicks) {
  const double n = 1e8;
  const double pooled = 0.01005;
  const double expected = 0.0001 / std::sqrt(pooled * (1 - pooled) * 2 / n);
  EXPECT_NEAR(sigmas_of_shares(1'000'000, 100'000'000, 1'010'000, 100'000'000), expected, 0.01);
}

// The probability is far below the smallest double.
TEST(Significance, HandlesProbabilitiesBelowTheSmallestDouble) {
  const double z = sigmas_of_shares(0, 1'000'000, 500'000, 1'000'000);
  EXPECT_GT(z, 500);
  EXPECT_TRUE(std::isfinite(z));
  EXPECT_NEAR(sigmas_of_shares(500'000, 1'000'000, 0, 1'000'000), -z, 1e-3);
}

TEST(Significance, TheNoiseLimitGrowsWithTheNumberOfDifferences) {
  EXPECT_NEAR(noise_limit(1), 1.959964, 1e-5);
  EXPECT_NEAR(noise_limit(10), 2.807034, 1e-5);
  EXPECT_NEAR(noise_limit(1000), 4.055627, 1e-5);
  EXPECT_EQ(noise_limit(0), noise_limit(1));
}

}  // namespace
