// SPDX-License-Identifier: MIT
// Functions whose instructions are known from callgrind: what calibration must leave of them.
// Compiled without hooks, with -fpatchable-function-entry and with -finstrument-functions. Usage:
// truth ROUNDS
#include <stdlib.h>

#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noipa))
#endif
#define UNPROFILED __attribute__((no_instrument_function, patchable_function_entry(0)))

static volatile long sink;

ALONE void nothing(void) {}

ALONE void calls_nothing(void) {
  nothing();
}

ALONE void add(long n) {
  sink += n;
}

ALONE long mix(long a, long b, double c) {
  return (a ^ b) * 3 + (long)(c * 2) + (a >> 3);
}

ALONE void loop(void) {
  for (int i = 0; i < 5; i++) sink += i;
}

ALONE void calls_add(void) {
  add(1);
  sink++;
  add(2);
}

ALONE long calls_mix(long n) {
  return mix(n, n + 1, 2.5) + mix(n + 2, n, 0.5) + n;
}

ALONE long calls_callers(long n) {
  calls_add();
  loop();
  return calls_mix(n) + 1;
}

UNPROFILED int main(int count, char** arguments) {
  const long rounds = count > 1 ? atol(arguments[1]) : 1;
  for (long i = 0; i < rounds; i++) {
    nothing();
    calls_nothing();
    sink = calls_callers(i);
  }
}
