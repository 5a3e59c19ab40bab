// SPDX-License-Identifier: MIT
// The cost of a call with hooks: CPU nanoseconds of the fastest of many rounds. Usage: callflow
// NAME
#define _GNU_SOURCE
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#ifdef PATCHED
#define UNPROFILED __attribute__((patchable_function_entry(0)))
#else
#define UNPROFILED __attribute__((no_instrument_function))
#endif

enum { rounds = 100, calls = 100000 };

static volatile long sink;

__attribute__((noinline)) void leaf(void) {
  sink++;
}

UNPROFILED static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

UNPROFILED int main(int count, char** arguments) {
  double best_call = 1e9;
  double best_read = 1e9;
  for (int round = 0; round < rounds; round++) {
    double before = now();
    for (int i = 0; i < calls; i++) leaf();
    const double call = (now() - before) / calls;
    before = now();
    for (int i = 0; i < calls; i++) sink = (long)__rdtsc();
    const double read = (now() - before) / calls;
    if (call < best_call) best_call = call;
    if (read < best_read) best_read = read;
  }
  printf("%-28s %6.1f ns a call (rdtsc: %.1f ns)\n", count > 1 ? arguments[1] : "", best_call,
         best_read);
}
