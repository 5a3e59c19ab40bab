// SPDX-License-Identifier: MIT
// What a user hook costs, in units of the time-stamp counter: instructions in the lab that counts
// them. Majors: 0x30 is enabled, 0x31 is not. One line each: "cost NAME UNITS".
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include "perfutil.h"

#define CALLS 500
#define ROUNDS 7

// Of CALLS runs of the statement, without those of an empty loop; the least of several rounds,
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

int main(void) {
  static const char text[] = "a name of 13b";

  // The first one connects.
  const int rc = TraceHook(0x30, 1, 0, 0);
  if (rc != PU_SUCCESS) {
    fprintf(stderr, "hookcost: %s\n", RcToString(rc));
    return 1;
  }
  COST("getppid", syscall(SYS_getppid));
  COST("disabled", TraceHook(0x31, 1, 4, 0, 1u, 2u, 3u, 4u));
  COST("none", TraceHook(0x30, 1, 0, 0));
  COST("4-ints", TraceHook(0x30, 1, 4, 0, 1u, 2u, 3u, 4u));
  COST("4-ints-string", TraceHook(0x30, 1, 4, 1, 1u, 2u, 3u, 4u, 13u, text));
  return 0;
}
