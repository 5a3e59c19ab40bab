// SPDX-License-Identifier: MIT
// A program that starts itself again and again: main() calls again(), which calls execve(). Usage:
// exec_itself SECONDS, without an environment. Compiled without frame pointers.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "burn.h"

#define NOT_LAST() __asm__ volatile("")

/* The arguments of the next program are shorter or longer than this one's, so that its stack begins
 * below and above.
 */
static char text[1 << 12];

__attribute__((noipa)) int again(char* name, double end) {
  static char number[32];
  static unsigned long seed;
  seed = (unsigned long)(now_seconds() * 1e6);
  const size_t length = seed % (sizeof text - 1);
  for (size_t i = 0; i < length; i++) text[i] = 'x';
  snprintf(number, sizeof number, "%f", end);
  char* arguments[] = {name, number, text, NULL};
  char* none[] = {NULL};
  execve(name, arguments, none);
  NOT_LAST();
  return 1;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  double end = atof(argv[1]);
  if (argc == 2) end += now_seconds();
  if (now_seconds() >= end) return 0;
  return again(argv[0], end);
}
