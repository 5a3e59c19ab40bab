// SPDX-License-Identifier: MIT
// Measures a statement in units of the time-stamp counter; in the instruction-count lab these are
// instructions.
#ifndef PITRACE_TESTS_COST_H
#define PITRACE_TESTS_COST_H

#include <stdio.h>
#include <x86intrin.h>

#define CALLS 500
#define ROUNDS 7

// Prints "cost NAME UNITS" for one execution of the statement: the difference of CALLS executions
// and an empty loop, divided by CALLS. The minimum of several rounds is used, as other tasks also
// run on the processor.
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
