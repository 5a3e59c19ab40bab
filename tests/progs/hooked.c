// SPDX-License-Identifier: MIT
// A program for hookit with known numbers of calls. Usage: hooked WHAT [N [SIGNAL]]; WHAT is a
// function below.
#define _GNU_SOURCE
#include <alloca.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hookit.h"

#ifdef PATCHED
#define UNPROFILED __attribute__((patchable_function_entry(0)))
#else
#define UNPROFILED __attribute__((no_instrument_function))
#endif

static volatile long sink;

__attribute__((noinline)) void leaf(void) {
  sink++;
}

__attribute__((noinline)) void middle(void) {
  leaf();
  leaf();
}

__attribute__((noinline)) void tree(long n) {
  for (long i = 0; i < n; i++) middle();
  leaf();
}

__attribute__((noinline)) long recursive(long n) {
  return n < 2 ? 1 : n + recursive(n - 1);
}

long odd(long n);
__attribute__((noinline)) long even(long n) {
  return n == 0 ? 1 : odd(n - 1) + 0 * sink;
}
__attribute__((noinline)) long odd(long n) {
  return n == 0 ? 0 : even(n - 1) + 0 * sink;
}

static jmp_buf back;
static volatile int jumping = 1;

__attribute__((noinline)) void dive(long depth) {
  char* space = alloca(16 + (size_t)depth % 100);
  space[0] = (char)depth;
  sink += space[0];
  if (depth == 0 && jumping) longjmp(back, 1);
  if (depth == 0) return;
  dive(depth - 1);
  sink++;
}

// Each round removes 21 frames without an event; what follows is called by jumps() all the same.
__attribute__((noinline)) void jumps(long n) {
  for (volatile long i = 0; i < n; i++) {
    if (setjmp(back) == 0) dive(20);
    leaf();
  }
}

__attribute__((noinline)) void* worker(void* rounds) {
  tree((long)rounds);
  return NULL;
}

__attribute__((noinline)) void threads(long n) {
  pthread_t all[4];
  pthread_setname_np(pthread_self(), "worker");  // new threads inherit it
  for (long i = 0; i < 4; i++) pthread_create(&all[i], NULL, worker, (void*)(n * (i + 1)));
  pthread_setname_np(pthread_self(), "hooked");
  for (int i = 0; i < 4; i++) pthread_join(all[i], NULL);
}

static int comparisons;
__attribute__((noinline)) int compare(const void* a, const void* b) {
  comparisons++;
  return *(const int*)a - *(const int*)b;
}

// qsort() itself is not instrumented.
__attribute__((noinline)) void callback(void) {
  int numbers[100];
  for (int i = 0; i < 100; i++) numbers[i] = (i * 37) % 100;
  qsort(numbers, 100, sizeof numbers[0], compare);
  fprintf(stderr, "comparisons %d\n", comparisons);
}

static volatile sig_atomic_t signals;
__attribute__((noinline)) void on_signal(int number) {
  (void)number;
  leaf();
  signals++;
}

// Signals interrupt events in all places; each handler's calls are counted or reported as lost.
__attribute__((noinline)) void storm(long n) {
  stack_t alternate = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
  sigaltstack(&alternate, NULL);
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  const pid_t parent = getpid();
  const pid_t sender = fork();
  if (sender == 0) {
    while (kill(parent, SIGUSR1) == 0 && getppid() == parent) {
    }
    _exit(0);
  }
  while (signals < n) middle();
  kill(sender, SIGKILL);
  waitpid(sender, NULL, 0);
  signal(SIGUSR1, SIG_IGN);
  fprintf(stderr, "signals %d\n", (int)signals);
}

__attribute__((noinline)) void forks(void) {
  middle();
  if (fork() == 0) {
    leaf();
    exit(0);
  }
  wait(NULL);
}

UNPROFILED static void control(void) {
  tree(1);
  hookit_start();
  tree(2);
  hookit_reset();
  tree(3);
  hookit_flush();
  tree(4);
  hookit_stop();
  tree(5);
}

static _Atomic int held;

UNPROFILED static int hold(struct dl_phdr_info* object, size_t size, void* unused) {
  (void)object, (void)size, (void)unused;
  held = 1;
  while (held != 2) usleep(1000);
  return 1;
}

UNPROFILED static void* hold_libraries(void* unused) {
  dl_iterate_phdr(hold, unused);
  return NULL;
}

UNPROFILED static void* work_and_exit(void* n) {
  const pthread_t main_thread = *(pthread_t*)n;
  pthread_join(main_thread, NULL);
  tree(5);
  exit(3);
}

// Ends the main thread before another one, which ends the process.
static void end_of_main(void) {
  static pthread_t self;
  pthread_t thread;
  self = pthread_self();
  pthread_create(&thread, NULL, work_and_exit, &self);
  pthread_exit(NULL);
}

// A child is made while another thread holds the list of libraries.
static void forks_while_held(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, hold_libraries, NULL);
  while (held != 1) usleep(1000);
  const pid_t child = fork();
  if (child == 0) {
    tree(5);
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  held = 2;
  pthread_join(thread, NULL);
  printf("child %d\n", WEXITSTATUS(status));
}

static volatile int* volatile nowhere;

UNPROFILED int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "";
  const long n = count > 2 ? atol(arguments[2]) : 1;
  if (!strcmp(what, "tree")) tree(n);
  if (!strcmp(what, "recursive")) recursive(n);
  if (!strcmp(what, "mutual")) even(n);
  if (!strcmp(what, "jumps")) jumps(n);
  if (!strcmp(what, "threads")) threads(n);
  if (!strcmp(what, "callback")) callback();
  if (!strcmp(what, "storm")) storm(n);
  if (!strcmp(what, "forks")) forks();
  if (!strcmp(what, "held")) forks_while_held();
  if (!strcmp(what, "control")) control();
  if (!strcmp(what, "writes")) {
    tree(n);
    if (write(STDOUT_FILENO, "written\n", 8) != 8) return 4;
  }
  if (!strcmp(what, "_exit")) {
    tree(n);
    _exit(7);
  }
  if (!strcmp(what, "end_of_main")) end_of_main();
  if (!strcmp(what, "quick_exit")) {
    tree(n);
    quick_exit(7);
  }
  if (!strcmp(what, "daemon")) {
    tree(n);
    if (daemon(1, 1) != 0) return 4;
    tree(2 * n);
    return 0;
  }
  if (!strcmp(what, "execveat")) {
    char* const nothing[] = {"nothing", NULL};
    tree(n);
    return execveat(AT_FDCWD, "nonexistent", nothing, nothing, 0) == 0;
  }
  if (!strcmp(what, "exec")) {
    tree(n);
    execl("/nonexistent", "nothing", NULL);
    execlp("echo", "echo", "hello", NULL);
  }
  if (!strcmp(what, "abort")) {
    tree(n);
    abort();
  }
  if (!strcmp(what, "segv")) {
    tree(n);
    *nowhere = 1;
  }
  if (!strcmp(what, "raise") && count > 3) {
    tree(n);
    raise(atoi(arguments[3]));
  }
  return 3;
}
