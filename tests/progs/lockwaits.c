// SPDX-License-Identifier: MIT
// Waits for locks a known number of times, and measures each wait by its own clock: lockwaits
// [late] [GETS]. The holder waits until the other thread sleeps. Prints: KIND WAITS NANOSECONDS.
// GETS: of a free lock instead. late: a line on the standard input begins it, a second one ends it.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOIPA __attribute__((noipa))
enum { rounds = 10, held_ms = 10 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t of_condition = PTHREAD_MUTEX_INITIALIZER;
static int is_true;

static atomic_int waiter, is_ready, is_done;
static uint64_t waited_ns;

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void sleep_ms(long ms) {
  const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
}

// Until the other thread sleeps in the lock.
static void until_it_waits(void) {
  char path[64], text[256];
  while (!is_ready) sched_yield();
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", waiter);
  for (;;) {
    FILE* file = fopen(path, "r");
    const size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[length] = '\0';
    const char* name_end = NULL;
    for (const char* at = text; *at; ++at)
      if (*at == ')') name_end = at;
    if (name_end && name_end[2] == 'S') return;
    sched_yield();
  }
}

static void after_end(int (*end)(void)) {
  sleep_ms(held_ms);
  end();
  while (!is_done) sched_yield();
}

#define WAITER(name, lock, unlock) \
  NOIPA static void name(void) {   \
    const uint64_t begin = now();  \
    lock;                          \
    waited_ns += now() - begin;    \
    unlock;                        \
  }
WAITER(wait_mutex, pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))
WAITER(wait_recursive, pthread_mutex_lock(&recursive), pthread_mutex_unlock(&recursive))
WAITER(wait_read, pthread_rwlock_rdlock(&rwlock), pthread_rwlock_unlock(&rwlock))
WAITER(wait_write, pthread_rwlock_wrlock(&rwlock), pthread_rwlock_unlock(&rwlock))

NOIPA static void wait_timed(void) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += 100;
  const uint64_t begin = now();
  pthread_mutex_timedlock(&mutex, &end);
  waited_ns += now() - begin;
  pthread_mutex_unlock(&mutex);
}

NOIPA static void wait_condition(void) {
  pthread_mutex_lock(&of_condition);
  while (!is_true) {
    const uint64_t begin = now();
    pthread_cond_wait(&condition, &of_condition);
    waited_ns += now() - begin;
  }
  pthread_mutex_unlock(&of_condition);
}

struct kind {
  const char* name;
  void (*hold)(void);
  int (*end)(void);
  void (*wait)(void);
};

static void hold_mutex(void) {
  pthread_mutex_lock(&mutex);
}
static int end_mutex(void) {
  return pthread_mutex_unlock(&mutex);
}
static void hold_recursive(void) {
  pthread_mutex_lock(&recursive);
  pthread_mutex_lock(&recursive);  // which is no wait
}
static int end_recursive(void) {
  pthread_mutex_unlock(&recursive);
  return pthread_mutex_unlock(&recursive);
}
static void hold_write(void) {
  pthread_rwlock_wrlock(&rwlock);
}
static void hold_read(void) {
  pthread_rwlock_rdlock(&rwlock);
}
static int end_rwlock(void) {
  return pthread_rwlock_unlock(&rwlock);
}
static void hold_condition(void) {
  is_true = 0;
}
static int end_condition(void) {
  pthread_mutex_lock(&of_condition);
  is_true = 1;
  pthread_cond_signal(&condition);
  return pthread_mutex_unlock(&of_condition);
}

static const struct kind kinds[] = {
    {"mutex", hold_mutex, end_mutex, wait_mutex},
    {"recursive", hold_recursive, end_recursive, wait_recursive},
    {"timed", hold_mutex, end_mutex, wait_timed},
    {"read", hold_write, end_rwlock, wait_read},
    {"write", hold_read, end_rwlock, wait_write},
    {"condition", hold_condition, end_condition, wait_condition},
};

static void* run_waiter(void* kind) {
  waiter = gettid();
  is_ready = 1;
  ((const struct kind*)kind)->wait();
  is_done = 1;
  return NULL;
}

static void measure(const struct kind* kind) {
  waited_ns = 0;
  for (int i = 0; i < rounds; ++i) {
    pthread_t thread;
    is_ready = is_done = 0;
    kind->hold();
    pthread_create(&thread, NULL, run_waiter, (void*)kind);
    until_it_waits();
    after_end(kind->end);
    pthread_join(thread, NULL);
  }
  printf("%s %d %llu\n", kind->name, rounds, (unsigned long long)waited_ns);
}

// Nobody else wants the lock.
static void uncontended(long count) {
  for (; count > 0; --count) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
}

static void wait_for_line(const char* text) {
  char byte = 0;
  puts(text);
  fflush(stdout);
  while (byte != '\n')
    if (read(0, &byte, 1) != 1) exit(7);
}

int main(int count, char** words) {
  const int is_late = count > 1 && strcmp(words[1], "late") == 0;
  if (is_late) wait_for_line("ready");
  if (count > 1 + is_late)
    uncontended(atol(words[1 + is_late]));
  else
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) measure(&kinds[i]);
  if (is_late) wait_for_line("done");
  return 0;
}
