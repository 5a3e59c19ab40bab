// SPDX-License-Identifier: MIT
// What a statement costs, in units of the time-stamp counter: instructions in the lab that counts them.
#ifndef PITRACE_TESTS_COST_H
#define PITRACE_TESTS_COST_H

#include <stdio.h>
#include <x86intrin.h>

#define CALLS 500
#define ROUNDS 7

// Prints "cost NAME UNITS": of CALLS runs of the statement, without those of an empty loop; the least of several rounds,
// because others run on the processor, too.
#define COST(name, statement)                                                            \
  do {                                                                                   \
    double least = 1e9;                                                                  \
    for (int round = 0; round < ROUNDS; round++) {                                       \
      const unsigned long long first = __rdtsc();                                        \
      for (volatile int i = 0; i < CALLS; i++) continue;                                 \
      const unsigned long long second = __rdtsc();                                       \
      for (volatile int i = 0; i < CALLS; i++) statement;                                \
      const unsigned long long third = __rdtsc();                                        \
      const double each = ((double)(third - second) - (double)(second - first)) / CALLS; \
      if (each < least) least = each;                                                    \
    }                                                                                    \
    printf("cost %s %.1f\n", name, least);                                               \
  } while (0)

#endif
