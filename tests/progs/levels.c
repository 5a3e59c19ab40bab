// SPDX-License-Identifier: MIT
// A recursion of known depth: main() calls descend(), whose innermost level calls bottom(), which
// does all the work. Usage: levels LEVELS SECONDS of CPU time. Compiled without frame pointers.
#include <stdlib.h>
#include <time.h>

#include "burn.h"

/* The function has work to do after its call, so that the call is no jump. */
#define NOT_LAST() __asm__ volatile("")

static double seconds;

static double used(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

__attribute__((noipa)) void bottom(void) {
  do {
    BURN(out_of_step(2000000));
  } while (used() < seconds);
}

__attribute__((noipa)) void descend(unsigned long levels) {
  if (levels > 1)
    descend(levels - 1);
  else
    bottom();
  NOT_LAST();
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  seconds = atof(argv[2]);
  descend(strtoul(argv[1], NULL, 10));
  return 0;
}
