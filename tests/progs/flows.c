// SPDX-License-Identifier: MIT
// A program whose instructions a test traces: from begin() to end() a loop, a recursion, a call
// through a pointer, a library call, a repeating string instruction, and a system call.
#include <stdlib.h>
#include <unistd.h>

volatile int sink;
void begin(void) {
  sink = 1;
}
void end(void) {
  sink = 2;
}
__attribute__((noinline)) int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__attribute__((noinline)) static int triple(int n) {
  return 3 * n + sink;
}
int (*volatile chosen)(int) = triple;

__attribute__((noinline)) static void fill(char* place, unsigned long size) {
  __asm__ volatile("rep stosb" : "+D"(place), "+c"(size) : "a"(7) : "memory");
}

int main(int argc, char** argv) {
  static char memory[64];
  int sum = argc;
  (void)argv;
  begin();
  for (int i = 0; i < 3; i++) sum += chosen(i);
  sum += fibonacci(5);
  sum += abs(atoi("-12"));
  fill(memory, sizeof memory);
  sum += getppid() != 0;
  end();
  return sum == memory[0];
}
