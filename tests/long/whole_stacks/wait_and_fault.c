// SPDX-License-Identifier: MIT
// A thread that waits in sleeper(), and touches new pages in toucher(), by turns. Usage:
// wait_and_fault ROUNDS PAGES: of each round. Compiled without frame pointers.
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

/* The function has work to do after its call, so that the call is no jump. */
#define NOT_LAST() __asm__ volatile("")

__attribute__((noipa)) void sleeper(void) {
  const struct timespec time = {0, 5000000};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
  NOT_LAST();
}

__attribute__((noipa)) void toucher(volatile char* memory, unsigned long pages) {
  for (unsigned long i = 0; i < pages; i++) memory[i << 12] = 1;
}

__attribute__((noipa)) void one_round(unsigned long pages) {
  sleeper();
  const size_t bytes = pages << 12;
  void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) exit(1);
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  toucher(memory, pages);
  munmap(memory, bytes);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  for (unsigned long i = strtoul(argv[1], NULL, 10); i > 0; i--) one_round(strtoul(argv[2], NULL, 10));
  return 0;
}
