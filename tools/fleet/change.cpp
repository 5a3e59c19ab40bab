// SPDX-License-Identifier: MIT
// Whether a share of the ticks differs between two parts of a fleet by more than chance.
#include "change.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

#include "analysis/significance.h"

namespace fleet {
namespace {

double share(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// For the small number of hosts.
double correction(int64_t hosts) {
  return hosts < 2 ? 1 : static_cast<double>(hosts) / static_cast<double>(hosts - 1);
}

// The variance of the difference of the shares: with e the ticks of the part that a host has beyond
// the share of all its ticks, divided by all ticks, it is the sum over hosts of (e of B - e of
// A)^2.
double variance(const Whole& whole, const Part& part) {
  const double pa = share(part.a, whole.a), pb = share(part.b, whole.b);
  const auto na = static_cast<double>(whole.a), nb = static_cast<double>(whole.b);
  const double of_a = (part.aa - 2 * pa * part.a_of_a + pa * pa * whole.aa) / (na * na);
  const double of_b = (part.bb - 2 * pb * part.b_of_b + pb * pb * whole.bb) / (nb * nb);
  const double both =
      (part.ab - pb * part.a_of_b - pa * part.b_of_a + pa * pb * whole.ab) / (na * nb);
  return std::max(0.0, of_a * correction(whole.hosts_a) + of_b * correction(whole.hosts_b) -
                           2 * both * correction(whole.hosts_both));
}

double sigmas_by_hosts(const Whole& whole, const Part& part) {
  const double change = share(part.b, whole.b) - share(part.a, whole.a);
  if (change == 0) return 0;
  const double square = variance(whole, part);
  constexpr double rounding = 1e-12;
  if (square < rounding * change * change)  // no host departs from the share
    return std::copysign(std::numeric_limits<double>::infinity(), change);
  const boost::math::students_t distribution(
      static_cast<double>(std::min(whole.hosts_a, whole.hosts_b) - 1));
  const double t = std::abs(change) / std::sqrt(square);
  const double tail = boost::math::cdf(boost::math::complement(distribution, t));
  return std::copysign(tail > 0 ? post::sigmas_of_tails(std::log(2 * tail)) : t, change);
}

}  // namespace

bool hosts_suffice(const Whole& whole) {
  return whole.hosts_a >= 2 && whole.hosts_b >= 2;
}

double sigmas_of_change(const Whole& whole, const Part& part) {
  const auto unsigned_of = [](int64_t ticks) { return static_cast<uint64_t>(ticks); };
  const double by_ticks = post::sigmas_of_shares(unsigned_of(part.a), unsigned_of(whole.a),
                                                 unsigned_of(part.b), unsigned_of(whole.b));
  if (!hosts_suffice(whole)) return by_ticks;
  const double by_hosts = sigmas_by_hosts(whole, part);
  return std::abs(by_hosts) < std::abs(by_ticks) ? by_hosts : by_ticks;
}

}  // namespace fleet
