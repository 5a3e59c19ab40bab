// SPDX-License-Identifier: MIT
// Measures user hooks in units of the time-stamp counter; in the instruction-count lab these are
// instructions. Major 0x30 is enabled, 0x31 is not. Prints lines "cost NAME UNITS".
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cost.h"
#include "perfutil.h"

int main(void) {
  static const char text[] = "a name of 13b";

  // The first hook connects the process.
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
