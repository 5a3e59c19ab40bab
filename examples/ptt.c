// SPDX-License-Identifier: MIT
// Measures the cost of a part of a program for its thread, without system calls if the pitrace
// module is loaded.
#include <stdio.h>

#include "perfutil_ptt.h"

static double work(void) {
  double sum = 0;
  for (int i = 1; i <= 1000; i++) sum += 1.0 / i;
  return sum;
}

int main(void) {
  const int metrics[] = {PTT_METRIC_CYCLES};
  struct pi_ptt_state state = {.size = sizeof state};
  if (PttInit(1, metrics, PI_PRIV_BOTH) != PU_SUCCESS || PttInitThread(0) != PU_SUCCESS ||
      PttGetState(&state) != PU_SUCCESS) {
    fprintf(stderr, "ptt: %s\n", PiErrorText());
    return 1;
  }
  const pi_ptt_reader read = PttReturnGetCurrentThreadDataFunctionPtr();
  uint64_t before, after;
  read(&before);
  const double sum = work();
  if (read(&after) != PU_SUCCESS) return 1;
  printf("work() gave %.3f and took %llu %s of this thread\n", sum,
         (unsigned long long)(after - before), state.unit[0]);
  printf("A reading takes %u cycles. Not separated: %s.\n", state.read_cycles, state.cannot_separate);
  PttTerminate();
  return 0;
}
