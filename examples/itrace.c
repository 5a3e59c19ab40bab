// SPDX-License-Identifier: MIT
// A program that has the instructions of one function of its own followed, whoever started the
// trace. Usage, as root or a member of the module's group:
//	swtrace init && swtrace on && swtrace it_install -i
//	itrace
//	swtrace off && swtrace get && swtrace free && post -arc swtrace.nrm2
#include <stdio.h>

#include "perfutil.h"

static int gcd(int a, int b) {
  return b == 0 ? a : gcd(b, a % b);
}

int main(void) {
  // The first call of a function that a library has is looked up, and what is touched first must
  // be mapped: not what is to be seen.
  int result = gcd(1071, 462);
  if (ITraceEnableCurrent() != PU_SUCCESS || ITraceOn() != PU_SUCCESS) {
    fprintf(stderr, "itrace: %s\n", PiErrorText());
    return 1;
  }
  result += gcd(1071, 462);
  if (ITraceOff() != PU_SUCCESS) {
    fprintf(stderr, "itrace: %s\n", PiErrorText());
    return 1;
  }
  printf("gcd(1071, 462), twice: %d\n", result);
  return 0;
}
