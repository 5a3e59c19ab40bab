// SPDX-License-Identifier: MIT
// Threads and processes that live for about two milliseconds, one after the other: in_thread() and
// in_child() do all the work. Usage: die_young SECONDS. Compiled without frame pointers.
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

/* The function has work to do after its call, so that the call is no jump. */
#define NOT_LAST() __asm__ volatile("")

static const unsigned long rounds = 3000000;

__attribute__((noipa)) void in_thread(void) {
  BURN(out_of_step(rounds));
}

__attribute__((noipa)) void* thread(void* unused) {
  in_thread();
  NOT_LAST();
  return unused;
}

__attribute__((noipa)) void in_child(void) {
  BURN(out_of_step(rounds));
}

__attribute__((noipa)) void child(void) {
  in_child();
  _exit(0);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const double end = now_seconds() + atof(argv[1]);
  unsigned long threads = 0;
  do {
    pthread_t started;
    if (pthread_create(&started, NULL, thread, NULL) != 0) return 1;
    pthread_join(started, NULL);
    const pid_t pid = fork();
    if (pid == 0) child();
    if (pid < 0 || waitpid(pid, NULL, 0) != pid) return 1;
    threads++;
  } while (now_seconds() < end);
  return threads == 0;
}
