// SPDX-License-Identifier: MIT
// Many threads and processes under PTT, each of which checks its own counts.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include "ptttool.h"

// ---- reads must never go backwards and never tear ----

// A thread's count grows, but not faster than the time-stamp counter: between two reads at most by
// the time from the end of the read before the first to the end of the second.
struct checker {
  uint64_t value, clock, old_clock, wrong;
};

static inline void check(struct checker* checker, uint64_t value, uint64_t clock) {
  const uint64_t grown = value - checker->value, passed = clock - checker->old_clock;
  if (value < checker->value || grown > passed) checker->wrong++;
  checker->value = value;
  checker->old_clock = checker->clock;
  checker->clock = clock;
}

// A fake slot, with signals as interrupts: the handler subtracts its own time.
static struct pitrace_ptt_slot fake = {.active = 1};

static void on_alarm(int signal) {
  (void)signal;
  const uint64_t begin = __rdtsc();
  known_loop(500);
  *(volatile __u64*)&fake.value[0] -= __rdtsc() - begin;
  *(volatile __u64*)&fake.changes += 1;
}

static void start_alarms(void) {
  const struct sigaction action = {.sa_handler = on_alarm};
  const struct itimerval often = {{0, 50}, {0, 50}};
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
}

// A faulty reader that the checker must detect: it does not check the change counter.
static inline uint64_t read_torn(const volatile struct pitrace_ptt_slot* slot) {
  const uint64_t had = slot->value[0];
  for (volatile int i = 0; i < 20; i++) continue;
  return had + __rdtsc();
}

static atomic_bool migrating = true;

static void* migrate(void* thread) {
  for (int cpu = 0; atomic_load(&migrating); cpu ^= 1) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    pthread_setaffinity_np(*(pthread_t*)thread, sizeof set, &set);
    usleep(1000);
  }
  return NULL;
}

// Prints "reads N changes N wrong N".
static int reads(uint64_t count, const char* kind) {
  const bool torn = !strcmp(kind, "torn");
  const bool real = !strcmp(kind, "slot");
  const struct pitrace_ptt_slot* slot = &fake;
  pthread_t self = pthread_self(), mover;
  struct slots slots;
  if (real) {
    slots = slots_open();
    slot = slot_attach(&slots);
    if (!slot) fail("attach");
    pthread_create(&mover, NULL, migrate, &self);
  } else {
    start_alarms();
  }
  struct checker checker = {.clock = __rdtsc(), .old_clock = __rdtsc()};
  PiPttReadCycles(slot, &checker.value);
  const uint64_t changes = slot->changes;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t value = 0;
    if (torn)
      value = read_torn(slot);
    else
      PiPttReadCycles(slot, &value);
    check(&checker, value, __rdtsc());
  }
  printf("reads %llu changes %llu wrong %llu\n", (unsigned long long)count,
         (unsigned long long)(*(volatile __u64*)&slot->changes - changes),
         (unsigned long long)checker.wrong);
  if (real) {
    atomic_store(&migrating, false);
    pthread_join(mover, NULL);
  }
  return checker.wrong != 0;
}

// ---- many threads ----

static struct slots own_slots;
static pthread_barrier_t all_there;
static atomic_uint good_threads;

// Reads by slot, by ioctl, by slot: the values must not decrease.
static bool agrees(const struct pitrace_ptt_slot* slot) {
  uint64_t before, after;
  struct pitrace_ptt_read by_call;
  if (!PiPttReadCycles(slot, &before)) return false;
  if (ioctl(own_slots.fd, PITRACE_PTT_IOC_READ, &by_call) != 0) return false;
  if (!PiPttReadCycles(slot, &after)) return false;
  return before <= by_call.value[0] && by_call.value[0] <= after;
}

static void* one_of_many(void* unused) {
  (void)unused;
  const struct pitrace_ptt_slot* slot = slot_attach(&own_slots);
  bool good = slot && agrees(slot);
  pthread_barrier_wait(&all_there);
  good = good && agrees(slot);
  known_loop(1000);
  good = good && agrees(slot);
  if (good) atomic_fetch_add(&good_threads, 1);
  pthread_barrier_wait(&all_there);
  return NULL;
}

static int many_threads(unsigned int count) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 16384 * 2);
  own_slots = slots_open();
  pthread_barrier_init(&all_there, NULL, count);
  pthread_t* threads = calloc(count, sizeof *threads);
  for (unsigned int i = 0; i < count; i++)
    if (pthread_create(&threads[i], &small, one_of_many, NULL) != 0) fail("pthread_create");
  for (unsigned int i = 0; i < count; i++) pthread_join(threads[i], NULL);
  return atomic_load(&good_threads) == count ? 0 : 1;
}

// Prints "many PROCESSES THREADS good PROCESSES".
static int many(int processes, unsigned int threads) {
  for (int i = 0; i < processes; i++)
    if (fork() == 0) _exit(many_threads(threads));
  int good = 0, status;
  while (wait(&status) > 0) good += WIFEXITED(status) && WEXITSTATUS(status) == 0;
  printf("many %d %u good %d\n", processes, threads, good);
  return good != processes;
}

// ---- exits ----

static void* read_and_end(void* rounds) {
  const struct pitrace_ptt_slot* slot = slot_attach(&own_slots);
  uint64_t value;
  if (!slot) return (void*)1;
  for (uintptr_t i = 0; i < (uintptr_t)rounds; i++)
    if (!PiPttReadCycles(slot, &value)) return (void*)1;
  return NULL;
}

// Threads end while they read, and others reuse their slots. Prints "exits N wrong N".
static int exits(uint64_t count) {
  int wrong = 0;
  own_slots = slots_open();
  for (uint64_t i = 0; i < count; i++) {
    pthread_t thread[4];
    for (int t = 0; t < 4; t++)
      pthread_create(&thread[t], NULL, read_and_end, (void*)(uintptr_t)(i % 50));
    for (int t = 0; t < 4; t++) {
      void* failed;
      pthread_join(thread[t], &failed);
      wrong += failed != NULL;
    }
  }
  printf("exits %llu wrong %d\n", (unsigned long long)(4 * count), wrong);
  return wrong != 0;
}

static void* exec_there(void* program) {
  const struct pitrace_ptt_slot* slot = slot_attach(&own_slots);
  if (!slot || !agrees(slot)) _exit(1);
  execl(program, "ptttool", "loop", "1000", "1", (char*)NULL);
  _exit(1);
}

// Calls exec in the main thread (0) or another one (1), with slots in use; the new image gets its
// own slots.
static void exec_under(int other) {
  static char program[] = "/proc/self/exe";
  own_slots = slots_open();
  if (!other) exec_there(program);
  slot_attach(&own_slots);
  pthread_t thread;
  pthread_create(&thread, NULL, exec_there, program);
  for (;;) pause();
}

// Reads until it is killed.
static int read_for_ever(void) {
  own_slots = slots_open();
  const struct pitrace_ptt_slot* slot = slot_attach(&own_slots);
  uint64_t value;
  if (!slot) fail("attach");
  puts("reading");
  fflush(stdout);
  while (PiPttReadCycles(slot, &value)) continue;
  puts("ended");
  return 0;
}

int crowd_main(int argc, char** argv) {
  const char* command = argc > 0 ? argv[0] : "";
  const uint64_t number = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
  if (!strcmp(command, "reads")) return reads(number, argc > 2 ? argv[2] : "slot");
  if (!strcmp(command, "many") && argc > 2) return many((int)number, (unsigned)atoi(argv[2]));
  if (!strcmp(command, "exits")) return exits(number);
  if (!strcmp(command, "exec")) exec_under((int)number);
  if (!strcmp(command, "wait")) return read_for_ever();
  return -1;
}
