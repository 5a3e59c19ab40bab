// SPDX-License-Identifier: MIT
// Allocates and frees in known numbers: allocates [late] MODE. late: a line on the standard input
// begins it, a second one ends the program.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOIPA __attribute__((noipa))

static void* volatile kept[64];
static volatile int sink;

// 1000 blocks of 16 bytes, one at a time.
NOIPA static void transient(void) {
  for (int i = 0; i < 1000; ++i) {
    void* block = malloc(16);
    sink += block != NULL;
    free(block);
  }
}

// 100 blocks of 40 bytes at once.
NOIPA static void together(void) {
  void* blocks[100];
  for (int i = 0; i < 100; ++i) blocks[i] = calloc(5, 8);
  for (int i = 0; i < 100; ++i) free(blocks[i]);
}

NOIPA static void* leak_one(size_t bytes) {
  void* block = malloc(bytes);
  sink += block != NULL;
  return block;
}

// 10 blocks of 1000 bytes that nothing refers to.
NOIPA static void leaks(void) {
  for (int i = 0; i < 10; ++i) sink += leak_one(1000) != NULL;
}

// 3 blocks of 500 bytes that stay in use.
NOIPA static void keeps(void) {
  for (int i = 0; i < 3; ++i) kept[i] = leak_one(500);
}

// A block of 10 bytes that grows to 2000 in 20 steps and is freed; and one that stays.
NOIPA static void grows(void) {
  char* block = malloc(10);
  for (int i = 1; i <= 20; ++i) block = realloc(block, 100 * i);
  free(block);
  kept[10] = realloc(NULL, 77);
  kept[10] = realloc(kept[10], 55);
  // What fails leaves the block as it was.
  volatile size_t too_much = PTRDIFF_MAX;
  sink += realloc(kept[10], too_much) == NULL;
}

NOIPA static void aligned(void) {
  void* block = NULL;
  sink += posix_memalign(&block, 64, 101);
  kept[20] = block;
  kept[21] = aligned_alloc(64, 128);
  kept[22] = memalign(64, 103);
  kept[23] = valloc(104);
  kept[24] = pvalloc(105);
  kept[25] = reallocarray(NULL, 2, 53);
  kept[26] = strdup("in the C library");  // 17 bytes
}

NOIPA static void recurse(int depth) {
  if (depth == 0)
    sink += leak_one(32) != NULL;
  else
    recurse(depth - 1);
  ++sink;
}

// A path of its own for each of the numbers below count, by the bits of the number.
NOIPA static void zero(int, int);
NOIPA static void one(int, int);
static void next(int number, int bits) {
  if (bits == 0)
    sink += leak_one(8) != NULL;
  else if (number & 1)
    one(number >> 1, bits - 1);
  else
    zero(number >> 1, bits - 1);
}
NOIPA static void zero(int number, int bits) {
  next(number, bits);
  ++sink;
}
NOIPA static void one(int number, int bits) {
  next(number, bits);
  ++sink;
}

NOIPA static void* worker(void* unused) {
  (void)unused;
  void* blocks[100];
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 100; ++i) blocks[i] = malloc(24);
    for (int i = round == 0 ? 10 : 0; i < 100; ++i) free(blocks[i]);
  }
  return NULL;
}

// Each allocates 10,000 blocks of 24 bytes and frees all but 10.
NOIPA static void threads(void) {
  pthread_t all[10];
  for (int i = 0; i < 10; ++i) pthread_create(&all[i], NULL, worker, NULL);
  for (int i = 0; i < 10; ++i) pthread_join(all[i], NULL);
}

static pthread_mutex_t never_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void unlock(void* mutex) {
  pthread_mutex_unlock(mutex);
}

static void* wait_for_ever(void* ready) {
  pthread_mutex_lock(&never_mutex);
  pthread_cleanup_push(unlock, &never_mutex);
  *(volatile int*)ready = 1;
  for (;;) pthread_cond_wait(&never, &never_mutex);
  pthread_cleanup_pop(1);
  return NULL;
}

// A thread that is cancelled while it waits leaves the mutex to others.
NOIPA static void cancels(void) {
  volatile int ready = 0;
  pthread_t thread;
  void* result = NULL;
  pthread_create(&thread, NULL, wait_for_ever, (void*)&ready);
  while (!ready) usleep(1000);
  pthread_mutex_lock(&never_mutex);
  pthread_mutex_unlock(&never_mutex);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  if (result != PTHREAD_CANCELED || pthread_mutex_trylock(&never_mutex) != 0) exit(5);
  leaks();
}

static void* free_it(void* block) {
  free(block);
  return NULL;
}

// Blocks of one thread that another one frees.
NOIPA static void passes_on(void) {
  for (int i = 0; i < 50; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, free_it, leak_one(64));
    pthread_join(thread, NULL);
  }
}

NOIPA static void forks(void) {
  kept[30] = leak_one(300);
  const pid_t child = fork();
  if (child == 0) {
    free(kept[30]);  // the parent's: not this process's allocation
    leaks();
    _exit(0);
  }
  waitpid(child, NULL, 0);
  transient();
}

NOIPA static void vforks(const char* name) {
  const pid_t child = vfork();
  if (child == 0) {
    execl("/proc/self/exe", name, "simple", NULL);
    _exit(1);
  }
  waitpid(child, NULL, 0);
}

static void on_alarm(int signal) {
  (void)signal;
  sink += leak_one(8) != NULL;
}

// A handler that allocates while the program does nothing else.
NOIPA static void in_handler(void) {
  signal(SIGUSR1, on_alarm);
  for (int i = 0; i < 5; ++i) raise(SIGUSR1);
}

// Libraries that are loaded and unloaded at perhaps the same address.
NOIPA static void libraries(char* first, char* second) {
  for (int i = 0; i < 3; ++i)
    for (int which = 0; which < 2; ++which) {
      void* library = dlopen(which ? second : first, RTLD_NOW);
      void* (*allocate)(size_t) = (void* (*)(size_t))dlsym(library, "library_allocate");
      if (!allocate) exit(4);
      sink += allocate(which ? 2000 : 1000) != NULL;
      dlclose(library);
    }
}

static void say(const char* text) {
  if (write(1, text, strlen(text)) < 0) exit(6);
}

static void wait_for_line(void) {
  char byte = 0;
  while (byte != '\n')
    if (read(0, &byte, 1) != 1) exit(7);
}

// What was allocated before is freed, moved, or stays.
NOIPA static void begin_late(void) {
  for (int i = 40; i < 43; ++i) kept[i] = leak_one(700);
  say("ready\n");
  wait_for_line();
  free(kept[40]);
  kept[41] = realloc(kept[41], 900);
}

static void end_late(void) {
  say("done\n");
  wait_for_line();
}

int main(int count, char** words) {
  const int is_late = count > 1 && strcmp(words[1], "late") == 0;
  if (is_late) {
    begin_late();
    --count;
    ++words;
  }
  const char* mode = count > 1 ? words[1] : "";
  if (strcmp(mode, "simple") == 0) {
    transient();
    together();
    leaks();
    keeps();
  } else if (strcmp(mode, "realloc") == 0) {
    grows();
  } else if (strcmp(mode, "aligned") == 0) {
    aligned();
  } else if (strcmp(mode, "recurse") == 0) {
    recurse(atoi(words[2]));
  } else if (strcmp(mode, "threads") == 0) {
    threads();
  } else if (strcmp(mode, "pass") == 0) {
    passes_on();
  } else if (strcmp(mode, "cancel") == 0) {
    cancels();
  } else if (strcmp(mode, "fork") == 0) {
    forks();
  } else if (strcmp(mode, "handler") == 0) {
    in_handler();
  } else if (strcmp(mode, "libraries") == 0) {
    libraries(words[2], words[3]);
  } else if (strcmp(mode, "loop") == 0) {
    for (long i = atol(words[2]); i > 0; --i) transient();
  } else if (strcmp(mode, "paths") == 0) {
    for (int i = 0; i < atoi(words[2]); ++i) next(i, 11);
  } else {
    leaks();
    if (strcmp(mode, "_exit") == 0) _exit(0);
    if (strcmp(mode, "abort") == 0) abort();
    if (strcmp(mode, "kill") == 0) kill(getpid(), SIGKILL);
    if (strcmp(mode, "exec") == 0) execl("/proc/self/exe", words[0], "simple", NULL);
    if (strcmp(mode, "vfork") == 0) vforks(words[0]);
    if (strcmp(mode, "wait") == 0) {
      puts("ready");
      fflush(stdout);
      pause();
    }
  }
  if (is_late) end_late();
  return 0;
}
