// SPDX-License-Identifier: MIT
// Whether two counts of ticks differ by more than chance makes them.
#ifndef POST_SIGNIFICANCE_H
#define POST_SIGNIFICANCE_H

#include <cstdint>

namespace post {

// How surprising a difference is, as standard deviations of a normal distribution whose two tails
// together have the probability of a difference at least as large. Positive when b is the larger
// one. Exact for small counts, too; 0 where there is nothing to compare.

// Fisher's exact test: a of all_a ticks and b of all_b ticks, if both were samples of one share.
// a <= all_a and b <= all_b.
double sigmas_of_shares(uint64_t a, uint64_t all_a, uint64_t b, uint64_t all_b);

// The exact test of two Poisson counts: a ticks in time_a and b in time_b, if both had one rate.
double sigmas_of_rates(uint64_t a, uint64_t time_a, uint64_t b, uint64_t time_b);

// The standard deviations beyond which, by chance alone, one of so many differences lies with a
// probability of 5 % at most (Bonferroni).
double noise_limit(uint64_t differences);

}  // namespace post

#endif  // POST_SIGNIFICANCE_H
