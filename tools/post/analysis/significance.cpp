// SPDX-License-Identifier: MIT
// Tests whether two counts of ticks differ by more than chance.
#include "significance.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace post {
namespace {

constexpr double familywise = 0.05;

// The logarithm of a normal distribution's two tails beyond z standard deviations. Far out, where
// erfc() underflows, its first asymptotic term is exact enough.
double log_of_tails(double z) {
  if (z < 30) return std::log(std::erfc(z / std::numbers::sqrt2));
  return -z * z / 2 - std::log(z * std::sqrt(std::numbers::pi / 2));
}

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

// The tail of a distribution that begins at a count, from that count's probability and the ratios
// of each further count's to the one before. The ratios fall, so that the sum ends.
template <class Ratio>
double log_of_tail(double log_first, uint64_t steps, Ratio ratio) {
  double sum = 1;
  double term = 1;
  for (uint64_t i = 0; i < steps; ++i) {
    term *= ratio(static_cast<double>(i));
    sum += term;
    if (term < sum * 1e-12) break;
  }
  return log_first + std::log(sum);
}

}  // namespace

double sigmas_of_tails(double log_probability) {
  double low = 0;
  double high = 1;
  while (log_of_tails(high) > log_probability) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (log_of_tails(middle) > log_probability ? low : high) = middle;
  }
  return low;
}

namespace {

// Both tails are taken to be as large as the smaller one.
double sigmas_of_tail(double log_tail, bool upper) {
  const double z = sigmas_of_tails(std::min(0.0, log_tail + std::numbers::ln2));
  return upper || z == 0 ? z : -z;
}

}  // namespace

double sigmas_of_shares(uint64_t a, uint64_t all_a, uint64_t b, uint64_t all_b) {
  if (all_a == 0 || all_b == 0 || a + b == 0) return 0;
  const double na = static_cast<double>(all_a);
  const double nb = static_cast<double>(all_b);
  const double x = static_cast<double>(a);
  const double y = static_cast<double>(b);
  const double k = x + y;
  const double log_first = log_choose(na, x) + log_choose(nb, y) - log_choose(na + nb, k);
  if (y * na >= x * nb)
    return sigmas_of_tail(
        log_of_tail(
            log_first, std::min(a, all_b - b),
            [&](double i) { return (x - i) * (nb - y - i) / ((y + i + 1) * (na - x + i + 1)); }),
        true);
  return sigmas_of_tail(
      log_of_tail(
          log_first, std::min(b, all_a - a),
          [&](double i) { return (y - i) * (na - x - i) / ((x + i + 1) * (nb - y + i + 1)); }),
      false);
}

double sigmas_of_rates(uint64_t a, uint64_t time_a, uint64_t b, uint64_t time_b) {
  if (time_a == 0 || time_b == 0 || a + b == 0) return 0;
  const double ta = static_cast<double>(time_a);
  const double tb = static_cast<double>(time_b);
  const double x = static_cast<double>(a);
  const double y = static_cast<double>(b);
  const double log_first =
      log_choose(x + y, y) + x * std::log(ta / (ta + tb)) + y * std::log(tb / (ta + tb));
  if (y * ta >= x * tb)
    return sigmas_of_tail(
        log_of_tail(log_first, a, [&](double i) { return (x - i) / (y + i + 1) * (tb / ta); }),
        true);
  return sigmas_of_tail(
      log_of_tail(log_first, b, [&](double i) { return (y - i) / (x + i + 1) * (ta / tb); }),
      false);
}

double noise_limit(uint64_t differences) {
  return sigmas_of_tails(
      std::log(familywise / static_cast<double>(std::max<uint64_t>(differences, 1))));
}

}  // namespace post
