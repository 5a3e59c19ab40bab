// SPDX-License-Identifier: MIT
// Measures a statement in units of the time-stamp counter; in the instruction-count lab these are
// instructions.
#ifndef PITRACE_TESTS_COST_H
#define PITRACE_TESTS_COST_H

#include <stdio.h>
#include <x86intrin.h>

#define CALLS 500
#define ROUNDS 7

// Prints "cost NAME UNITS": of CALLS runs of the statement, without those of an empty loop. Other tasks run on the
// processor, too, during either loop: each loop counts with the least of its rounds.
#define COST(name, statement)                                            \
  do {                                                                   \
    unsigned long long empty = ~0ull, full = ~0ull;                      \
    for (int round = 0; round < ROUNDS; round++) {                       \
      const unsigned long long first = __rdtsc();                        \
      for (volatile int i = 0; i < CALLS; i++) continue;                 \
      const unsigned long long second = __rdtsc();                       \
      for (volatile int i = 0; i < CALLS; i++) statement;                \
      const unsigned long long third = __rdtsc();                        \
      if (second - first < empty) empty = second - first;                \
      if (third - second < full) full = third - second;                  \
    }                                                                    \
    printf("cost %s %.1f\n", name, ((double)full - (double)empty) / CALLS); \
  } while (0)

#endif
