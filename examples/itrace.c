// SPDX-License-Identifier: MIT
// A program that has the instructions of one of its functions followed, whichever process started
// the trace. Usage, as root or a member of the module's group:
//	swtrace init && swtrace on && swtrace it_install -i
//	itrace
//	swtrace off && swtrace get && swtrace free && post -arc swtrace.nrm2
#include <stdio.h>

#include "perfutil.h"

// Not inlined, so that it appears as a function.
__attribute__((noinline)) static int gcd(int a, int b) {
  while (b != 0) {
    const int rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

int main(void) {
  volatile int a = 1071, b = 462;
  // The first call of a library function looks the symbol up and maps pages; this call keeps that
  // out of the trace.
  int result = gcd(a, b);
  if (ITraceEnableCurrent() != PU_SUCCESS || ITraceOn() != PU_SUCCESS) {
    fprintf(stderr, "itrace: %s\n", PiErrorText());
    return 1;
  }
  result += gcd(a, b);
  if (ITraceOff() != PU_SUCCESS) {
    fprintf(stderr, "itrace: %s\n", PiErrorText());
    return 1;
  }
  printf("gcd(1071, 462), twice: %d\n", result);
  return 0;
}
