// SPDX-License-Identifier: MIT
// Has the instructions of one system call followed. With the pitrace module loaded:
//	swtrace init -s 64 && swtrace on && swtrace it_install -i
//	hello
//	swtrace it_remove; swtrace off; swtrace get; swtrace free
//	post -r swtrace.nrm2 -arc -c
#include <stdio.h>
#include <unistd.h>

#include "perfutil.h"

int main(void) {
  if (ITraceEnableCurrent() != PU_SUCCESS || ITraceOn() != PU_SUCCESS) {
    fprintf(stderr, "hello: %s\n", PiErrorText());
    return 1;
  }
  const int wrong = write(1, "hello\n", 6) != 6;
  ITraceOff();
  return wrong;
}
