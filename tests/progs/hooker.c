// SPDX-License-Identifier: MIT
// Writes user hooks from many threads, and from signal handlers that interrupt them, and reports
// the result of each call: an oracle for the records in the trace.
//
// Every record has the ints pid, writer, number and their checksum, and the string "WRITER.NUMBER".
// Writer t is thread t, writer THREADS + t its signal handler. A writer's numbers increase by one
// with every call. At the end prints for each writer "writer PID WRITER calls N stored N lost N".
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perfutil.h"

#define THREADS_MAX 600
#define SUM(writer, number) ((uint32_t)getpid() * 3u + (writer)*5u + (number)*7u)

static const char* const usage =
    "Usage: hooker [-M MAJOR] [-n CALLS] [-t THREADS] [-u MICROSECONDS] [-s] [-f] [-w] [-x]\n"
    "  -u  pause between two calls of a thread    -s  each thread is interrupted by a signal\n"
    "  -f  a child of fork() does the same in the middle\n"
    "  -w  waits, at most ten seconds, until there is a trace    -x  writes until it is killed\n";

struct writer {
  unsigned long calls, stored, lost;
};

static struct writer writers[2 * THREADS_MAX];
static pthread_t ids[THREADS_MAX];
static unsigned long calls = 1000;
static unsigned int major = 0x30, threads = 1, pause_us;
static pthread_barrier_t start_line;
static int with_signals, with_fork, wait_for_trace, for_ever;
static volatile int failed, finished;
static __thread unsigned int own;

// snprintf() is not async-signal-safe.
static char* decimal(char* at, unsigned long value) {
  char digits[20];
  int count = 0;
  do digits[count++] = (char)('0' + value % 10);
  while ((value /= 10) != 0);
  while (count > 0) *at++ = digits[--count];
  return at;
}

static void write_one(unsigned int writer) {
  struct writer* const me = &writers[writer];
  const uint32_t number = (uint32_t)me->calls++;
  char text[44];
  char* end = decimal(text, writer);
  *end++ = '.';
  end = decimal(end, number);
  const int rc = TraceHook(major, writer, 4, 1, (unsigned int)getpid(), writer, number,
                           SUM(writer, number), (unsigned int)(end - text), text);
  if (rc == PU_SUCCESS)
    me->stored++;
  else if (rc == PU_ERROR_BUFFER_FULL)
    me->lost++;
  else
    failed = rc;
}

static void on_signal(int signal) {
  (void)signal;
  const int errno_before = errno;
  write_one(threads + own);
  if (errno != errno_before) failed = PU_FAILURE;
}

static void change_mask(int how) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(how, &signals, NULL);
}

static void* write_all(void* argument) {
  own = (unsigned int)(size_t)argument;
  // Unblock signals only now: the handler uses the thread's writer.
  change_mask(SIG_UNBLOCK);
  // Start together: without -w all threads look for the trace at the same time.
  pthread_barrier_wait(&start_line);
  for (unsigned long i = 0; i < calls || for_ever; i++) {
    write_one(own);
    if (pause_us) usleep(pause_us);
  }
  return NULL;
}

static void* interrupt_all(void* argument) {
  (void)argument;
  while (!finished) {
    for (unsigned int t = 0; t < threads; t++) pthread_kill(ids[t], SIGUSR1);
    usleep(100);
  }
  return NULL;
}

// The threads are joined only after the last signal was sent.
static void run_threads(void) {
  pthread_t interrupter;

  finished = 0;
  pthread_barrier_init(&start_line, NULL, threads);
  for (unsigned int t = 0; t < threads; t++) {
    if (pthread_create(&ids[t], NULL, write_all, (void*)(size_t)t) != 0) {
      fputs("hooker: no more threads\n", stderr);
      exit(1);
    }
  }
  if (with_signals && pthread_create(&interrupter, NULL, interrupt_all, NULL) == 0) {
    usleep(200000);
    finished = 1;
    pthread_join(interrupter, NULL);
  }
  for (unsigned int t = 0; t < threads; t++) pthread_join(ids[t], NULL);
  pthread_barrier_destroy(&start_line);
}

// Connects before any signal: a handler that interrupts the first hook gets "no trace" as result.
static void connect_first(void) {
  for (int tries = 0; wait_for_trace && tries < 1000; tries++) {
    // A major that programs may write but that is not enabled.
    if (TraceHook(0xfd, 0, 0, 0) == PU_SUCCESS) break;
    usleep(10000);
  }
}

static void report(void) {
  for (unsigned int w = 0; w < (with_signals ? 2 : 1) * threads; w++)
    printf("writer %d %u calls %lu stored %lu lost %lu\n", getpid(), w, writers[w].calls,
           writers[w].stored, writers[w].lost);
  fflush(stdout);
}

static void parse(int argc, char** argv) {
  int option;
  while ((option = getopt(argc, argv, "M:n:t:u:sfwx")) != -1) {
    switch (option) {
      case 'M':
        major = (unsigned int)strtoul(optarg, NULL, 0);
        break;
      case 'n':
        calls = strtoul(optarg, NULL, 0);
        break;
      case 't':
        threads = (unsigned int)strtoul(optarg, NULL, 0);
        break;
      case 'u':
        pause_us = (unsigned int)strtoul(optarg, NULL, 0);
        break;
      case 's':
        with_signals = 1;
        break;
      case 'f':
        with_fork = 1;
        break;
      case 'w':
        wait_for_trace = 1;
        break;
      case 'x':
        for_ever = 1;
        break;
      default:
        fputs(usage, stderr);
        exit(2);
    }
  }
  if (threads == 0 || threads > THREADS_MAX) {
    fputs(usage, stderr);
    exit(2);
  }
}

int main(int argc, char** argv) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  int status = 0;
  pid_t child = 0;

  parse(argc, argv);
  sigaction(SIGUSR1, &action, NULL);
  change_mask(SIG_BLOCK);
  connect_first();
  if (for_ever) puts("writing");
  fflush(stdout);
  run_threads();
  if (with_fork) {
    child = fork();
    if (child < 0) return 1;
    if (child == 0) {
      memset(writers, 0, sizeof writers);
      connect_first();
    }
    run_threads();
  }
  report();
  if (child > 0 && (waitpid(child, &status, 0) != child || status != 0)) failed = PU_FAILURE;
  if (failed) fprintf(stderr, "hooker: %s\n", RcToString(failed));
  return failed != 0;
}
