// SPDX-License-Identifier: MIT
// Compares PTT's counts of threads with the kernel's scheduler statistics.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "ptttool.h"

static struct slots slots;
static time_t end_time;
static double cycles_a_nanosecond;

static uint64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Returns the thread's nanoseconds on a processor.
static uint64_t read_time(void) {
  char name[64];
  unsigned long long run;
  snprintf(name, sizeof name, "/proc/self/task/%ld/schedstat", syscall(SYS_gettid));
  FILE* file = fopen(name, "r");
  if (!file || fscanf(file, "%llu", &run) != 1) fail(name);
  fclose(file);
  return run;
}

// Returns how often the thread got a processor: once more than it left one. The count in schedstat
// misses some in kernel 7.3.
static uint64_t read_switches(void) {
  char name[64], line[256];
  unsigned long long voluntary = 0, forced = 0;
  snprintf(name, sizeof name, "/proc/self/task/%ld/status", syscall(SYS_gettid));
  FILE* file = fopen(name, "r");
  if (!file) fail(name);
  while (fgets(line, sizeof line, file)) {
    sscanf(line, "voluntary_ctxt_switches: %llu", &voluntary);
    sscanf(line, "nonvoluntary_ctxt_switches: %llu", &forced);
  }
  fclose(file);
  return voluntary + forced + 1;
}

// Prints "kernel NAME milliseconds N ptt N off-permille N switches N dispatches N".
static void compare_with_kernel(const char* name) {
  uint64_t time, switches;
  struct pitrace_ptt_read read = {0};
  // Repeat until no switch occurred in between: else the two values are of different times.
  do {
    switches = read_switches();
    time = read_time();
    if (ioctl(slots.fd, PITRACE_PTT_IOC_READ, &read) != 0) fail("read");
  } while (read_switches() != switches);
  const double ptt = (double)read.value[0] / cycles_a_nanosecond;
  printf("kernel %s milliseconds %.1f ptt %.1f off-permille %.2f switches %llu dispatches %llu\n",
         name, (double)time / 1e6, ptt / 1e6, 1000 * (ptt - (double)time) / (double)time,
         (unsigned long long)switches, (unsigned long long)read.dispatches);
}

static void* spin(void* name) {
  while (time(NULL) < end_time) known_loop(10000);
  compare_with_kernel(name);
  return NULL;
}

// Uses half of the time.
static void* doze(void* name) {
  while (time(NULL) < end_time) {
    const uint64_t begin = nanoseconds();
    while (nanoseconds() - begin < 3000000) continue;
    usleep(3000);
  }
  compare_with_kernel(name);
  return NULL;
}

// System calls and page faults are charged to the thread.
static void* call(void* name) {
  while (time(NULL) < end_time)
    for (int i = 0; i < 100; i++) {
      free(memset(malloc(1 << 20), 1, 1 << 20));
      sched_yield();
    }
  compare_with_kernel(name);
  return NULL;
}

static int run_with_kernel_counts(int seconds) {
  slots = slots_open();
  const uint64_t clock = __rdtsc(), time_then = nanoseconds();
  end_time = time(NULL) + seconds;
  usleep(200000);
  cycles_a_nanosecond = (double)(__rdtsc() - clock) / (double)(nanoseconds() - time_then);
  void* (*const work[])(void*) = {spin, spin, doze, doze, call, call};
  static char names[][8] = {"spin", "spin", "doze", "doze", "call", "call"};
  pthread_t threads[6];
  for (int i = 0; i < 6; i++) pthread_create(&threads[i], NULL, work[i], names[i]);
  for (int i = 0; i < 6; i++) pthread_join(threads[i], NULL);
  return 0;
}

int kernel_main(int argc, char** argv) {
  if (argc > 1 && !strcmp(argv[0], "kernel")) return run_with_kernel_counts(atoi(argv[1]));
  return -1;
}
