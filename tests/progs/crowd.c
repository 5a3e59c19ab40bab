// SPDX-License-Identifier: MIT
// Many threads that wait. Prints "ready" when all run; each SIGUSR1 wakes all of them once, and then "woken" is printed.
// Usage: crowd THREADS
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_BYTES 16384

static atomic_uint round_number;
static atomic_uint done;

static void* wait_in_rounds(void* unused) {
  (void)unused;
  unsigned round = 0;
  for (;;) {
    atomic_fetch_add(&done, 1);
    while (atomic_load(&round_number) == round) syscall(SYS_futex, &round_number, FUTEX_WAIT_PRIVATE, round, NULL, NULL, 0);
    ++round;
  }
  return NULL;
}

static void wait_for_all(unsigned threads, const char* text) {
  while (atomic_load(&done) != threads) usleep(10000);
  puts(text);
  fflush(stdout);
}

int main(int argc, char** argv) {
  const unsigned threads = argc == 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
  sigset_t wakes;
  sigemptyset(&wakes);
  sigaddset(&wakes, SIGUSR1);
  sigprocmask(SIG_BLOCK, &wakes, NULL);
  // One mapping for all stacks: each of its own would need two of a limited number.
  char* stacks = mmap(NULL, (size_t)threads * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (threads == 0 || stacks == MAP_FAILED) {
    fprintf(stderr, "Usage: crowd THREADS\n");
    return 1;
  }
  for (unsigned i = 0; i < threads; ++i) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stacks + (size_t)i * STACK_BYTES, STACK_BYTES);
    const int error = pthread_create(&thread, &attributes, wait_in_rounds, NULL);
    if (error != 0) {
      fprintf(stderr, "crowd: thread %u: %s\n", i, strerror(error));
      return 1;
    }
    pthread_attr_destroy(&attributes);
  }
  wait_for_all(threads, "ready");
  for (;;) {
    int number = 0;
    if (sigwait(&wakes, &number) != 0) return 1;
    atomic_store(&done, 0);
    atomic_fetch_add(&round_number, 1);
    syscall(SYS_futex, &round_number, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    wait_for_all(threads, "woken");
  }
}
