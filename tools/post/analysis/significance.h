// SPDX-License-Identifier: MIT
// Tests whether two counts of ticks differ by more than chance.
#ifndef POST_SIGNIFICANCE_H
#define POST_SIGNIFICANCE_H

#include <cstdint>

namespace post {

// The significance of a difference, in standard deviations of a normal distribution whose two tails
// together have the probability of a difference at least as large. Positive when b is the larger
// one. Exact for small counts, too; 0 if there is nothing to compare.

// Fisher's exact test: a of all_a ticks and b of all_b ticks, for the hypothesis of equal shares.
// a <= all_a and b <= all_b.
double sigmas_of_shares(uint64_t a, uint64_t all_a, uint64_t b, uint64_t all_b);

// Exact test of two Poisson counts: a ticks in time_a and b in time_b, for equal rates.
double sigmas_of_rates(uint64_t a, uint64_t time_a, uint64_t b, uint64_t time_b);

// Two tails that together have a probability, of which this is the logarithm: the standard
// deviations beyond which they are.
double sigmas_of_tails(double log_probability);

// The limit in standard deviations: by chance alone, one of that many differences exceeds it with a
// probability of at most 5 % (Bonferroni).
double noise_limit(uint64_t differences);

}  // namespace post

#endif  // POST_SIGNIFICANCE_H
