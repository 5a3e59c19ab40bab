// SPDX-License-Identifier: MIT
// What counts as a change between two parts of a fleet: simulated hosts, whose work differs.
#include "change.h"

#include <analysis/significance.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace {

using fleet::Part;
using fleet::Whole;

struct HostTicks {
  std::vector<int64_t> a, b;  // by function
};

// As sql/hosts.sql and sql/diff.sql sum them.
struct Sums {
  Whole whole;
  std::vector<Part> parts;
};

Sums sums_of(const std::vector<HostTicks>& hosts) {
  Sums sums;
  sums.parts.resize(hosts.front().a.size());
  for (const HostTicks& host : hosts) {
    int64_t of_a = 0, of_b = 0;
    for (const int64_t ticks : host.a) of_a += ticks;
    for (const int64_t ticks : host.b) of_b += ticks;
    const auto all_a = static_cast<double>(of_a), all_b = static_cast<double>(of_b);
    Whole& whole = sums.whole;
    whole.a += of_a;
    whole.b += of_b;
    whole.hosts_a += of_a > 0;
    whole.hosts_b += of_b > 0;
    whole.hosts_both += of_a > 0 && of_b > 0;
    whole.aa += all_a * all_a;
    whole.bb += all_b * all_b;
    whole.ab += all_a * all_b;
    for (size_t i = 0; i < sums.parts.size(); ++i) {
      Part& part = sums.parts[i];
      const auto a = static_cast<double>(host.a[i]), b = static_cast<double>(host.b[i]);
      part.a += host.a[i];
      part.b += host.b[i];
      part.aa += a * a;
      part.bb += b * b;
      part.ab += a * b;
      part.a_of_a += a * all_a;
      part.a_of_b += a * all_b;
      part.b_of_a += b * all_a;
      part.b_of_b += b * all_b;
    }
  }
  return sums;
}

// Functions with shares of different sizes, which differ from host to host by a third, and from one
// time to the next by a tenth. extra: of the last function in B, as a share of all.
class Simulation {
 public:
  explicit Simulation(uint32_t seed) : random_(seed) {}

  Sums run(size_t hosts, bool paired, double extra) {
    constexpr size_t functions = 15;
    std::vector<HostTicks> all;
    for (size_t host = 0; host < hosts; ++host) {
      std::vector<double> habits;
      for (size_t i = 0; i < functions; ++i)
        habits.push_back(std::exp(normal(0.3)) / static_cast<double>(i + 1));
      HostTicks ticks{std::vector<int64_t>(functions), std::vector<int64_t>(functions)};
      if (paired || host % 2 == 0) ticks.a = draw(habits, 0);
      if (paired || host % 2 == 1) ticks.b = draw(habits, extra);
      all.push_back(std::move(ticks));
    }
    return sums_of(all);
  }

 private:
  double normal(double deviation) {
    return std::normal_distribution<double>(0, deviation)(random_);
  }

  std::vector<int64_t> draw(const std::vector<double>& habits, double extra) {
    const double load = 5000 * std::exp(normal(0.5));
    double sum = 0;
    std::vector<double> weights;
    for (const double habit : habits) sum += weights.emplace_back(habit * std::exp(normal(0.1)));
    std::vector<int64_t> ticks;
    for (size_t i = 0; i < weights.size(); ++i) {
      const double share = weights[i] / sum * (1 - extra) + (i + 1 == weights.size() ? extra : 0);
      ticks.push_back(std::poisson_distribution<int64_t>(load * share)(random_));
    }
    return ticks;
  }

  std::mt19937 random_;
};

// Rows of a run that are beyond chance.
std::vector<size_t> changed_in(const Sums& sums) {
  std::vector<size_t> changed;
  const double limit = post::noise_limit(sums.parts.size());
  for (size_t i = 0; i < sums.parts.size(); ++i)
    if (std::abs(fleet::sigmas_of_change(sums.whole, sums.parts[i])) > limit) changed.push_back(i);
  return changed;
}

// The stated rate is 5 in 100 runs; more than 10 have a probability of 1 %.
void expect_few_alarms(size_t hosts, bool paired) {
  int alarms = 0, alarms_by_ticks = 0;
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    const Sums sums = Simulation(seed).run(hosts, paired, 0);
    alarms += !changed_in(sums).empty();
    const double limit = post::noise_limit(sums.parts.size());
    bool any = false;
    for (const Part& part : sums.parts)
      any |= std::abs(post::sigmas_of_shares(
                 static_cast<uint64_t>(part.a), static_cast<uint64_t>(sums.whole.a),
                 static_cast<uint64_t>(part.b), static_cast<uint64_t>(sums.whole.b))) > limit;
    alarms_by_ticks += any;
  }
  EXPECT_LE(alarms, 10) << hosts;
  // Ticks alone would find changes everywhere.
  EXPECT_GT(alarms_by_ticks, 80) << hosts;
}

TEST(FleetChange, WithoutAChangeOneOfTwentyRunsHasAnAlarm) {
  expect_few_alarms(40, true);
  expect_few_alarms(10, false);
}

TEST(FleetChange, AChangeOfThreePointsIsFoundWithinAPoint) {
  int found = 0;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    const Sums sums = Simulation(seed).run(50, true, 0.03);
    const auto changed = changed_in(sums);
    const size_t planted = sums.parts.size() - 1;
    found += std::ranges::find(changed, planted) != changed.end();
    const Part& part = sums.parts[planted];
    const double before = static_cast<double>(part.a) / static_cast<double>(sums.whole.a);
    const double after = static_cast<double>(part.b) / static_cast<double>(sums.whole.b);
    // The planted share replaces that part of all functions, this one included.
    EXPECT_NEAR(after - before, 0.03 * (1 - before), 0.01) << seed;
  }
  EXPECT_EQ(found, 20);
}

TEST(FleetChange, TicksOfOneHostAreNoChangeOfTheFleet) {
  std::vector<HostTicks> hosts(20, HostTicks{{1000, 0}, {1000, 0}});
  hosts[0].b = {0, 1000};
  const Sums sums = sums_of(hosts);
  EXPECT_GT(post::sigmas_of_shares(0, 20000, 1000, 20000), 20);
  EXPECT_LT(std::abs(fleet::sigmas_of_change(sums.whole, sums.parts[1])), 1.1);
}

TEST(FleetChange, WithOneHostOnlyTicksCount) {
  const Sums sums = sums_of({HostTicks{{900, 100}, {600, 400}}});
  EXPECT_FALSE(fleet::hosts_suffice(sums.whole));
  EXPECT_EQ(fleet::sigmas_of_change(sums.whole, sums.parts[1]),
            post::sigmas_of_shares(100, 1000, 400, 1000));
}

TEST(FleetChange, HostsThatAreAllEqualLeaveTheTestOfTicks) {
  const Sums sums = sums_of(std::vector<HostTicks>(4, HostTicks{{900, 100}, {600, 400}}));
  EXPECT_EQ(fleet::sigmas_of_change(sums.whole, sums.parts[1]),
            post::sigmas_of_shares(400, 4000, 1600, 4000));
  EXPECT_GT(fleet::sigmas_of_change(sums.whole, sums.parts[1]), 10);
  EXPECT_LT(fleet::sigmas_of_change(sums.whole, sums.parts[0]), -10);
}

TEST(FleetChange, NothingToCompareIsNoChange) {
  EXPECT_EQ(fleet::sigmas_of_change({}, {}), 0);
  const Sums sums = sums_of(std::vector<HostTicks>(3, HostTicks{{10, 0}, {10, 0}}));
  EXPECT_EQ(fleet::sigmas_of_change(sums.whole, sums.parts[1]), 0);
  EXPECT_EQ(fleet::sigmas_of_change(sums.whole, sums.parts[0]), 0);
}

}  // namespace
