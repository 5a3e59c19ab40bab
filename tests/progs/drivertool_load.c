// SPDX-License-Identifier: MIT
// Workloads that fire the module's hooks in a known way.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include "drivertool.h"

static const char* const library = "libm.so.6";

// Forks children that exec this program, which then loads a library.
static int spawn(unsigned int count) {
  const char* const self = "/proc/self/exe";
  int failed = 0;

  for (unsigned int i = 0; i < count; i++) {
    const pid_t child = fork();
    int status;
    if (child < 0) fail("fork");
    if (child == 0) {
      execl(self, "spawned", "load", (char*)NULL);
      _exit(127);
    }
    if (waitpid(child, &status, 0) != child || status != 0) failed = 1;
    printf("spawned %d\n", child);
  }
  return failed;
}

// Starts a child that shares this address space until its exec.
static int spawn_sharing(char** environment) {
  char* const arguments[] = {"vforked", "load", NULL};
  pid_t child;
  int status;

  if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environment) != 0)
    fail("posix_spawn");
  if (waitpid(child, &status, 0) != child || status != 0) return 1;
  printf("vforked %d\n", child);
  return 0;
}

static int load(void) {
  return dlopen(library, RTLD_NOW) ? 0 : 1;
}

static int rename_self(void) {
  if (prctl(PR_SET_NAME, "renamed") != 0) fail("prctl");
  printf("renamed %d\n", getpid());
  return 0;
}

static void* be_a_thread(void* unused) {
  pthread_setname_np(pthread_self(), "worker");
  usleep(1000);
  return unused;
}

static int threads(unsigned int count) {
  for (unsigned int i = 0; i < count; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, be_a_thread, NULL) != 0) fail("pthread_create");
    pthread_join(thread, NULL);
  }
  printf("threads %d\n", getpid());
  return 0;
}

static void* become_a_program(void* unused) {
  printf("executes %d %d\n", getpid(), gettid());
  fflush(stdout);
  execl("/proc/self/exe", "executed", "load", (char*)NULL);
  fail("execl");
  return unused;
}

// Calls exec in a thread that is not the leader.
static int execute_in_thread(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, become_a_program, NULL) != 0) fail("pthread_create");
  pthread_join(thread, NULL);
  return 1;
}

// Maps a page of this program executable, and moves the mapping to a free address.
static int move_mapping(void) {
  const size_t page = 4096;
  const int fd = open("/proc/self/exe", O_RDONLY);
  char* old = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
  char* free_place = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (old == MAP_FAILED || free_place == MAP_FAILED) fail("mmap");
  char* new = mremap(old, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, free_place);
  if (new != free_place) fail("mremap");
  printf("moved %d %x %x\n", getpid(), (unsigned int)((uintptr_t) new >> 32),
         (unsigned int)(uintptr_t) new);
  // mprotect makes a file mapping and an anonymous mapping executable.
  char* data = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);
  char* code = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED || code == MAP_FAILED) fail("mmap");
  if (mprotect(data, page, PROT_READ | PROT_EXEC) != 0) fail("mprotect");
  if (mprotect(code, page, PROT_READ | PROT_EXEC) != 0) fail("mprotect");
  printf("protected %d %x %x\n", getpid(), (unsigned int)((uintptr_t)data >> 32),
         (unsigned int)(uintptr_t)data);
  printf("anonymous %d %x %x\n", getpid(), (unsigned int)((uintptr_t)code >> 32),
         (unsigned int)(uintptr_t)code);
  return 0;
}

static void stay_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) fail("sched_setaffinity");
}

// Makes thousands of mappings executable at once, again and again, as another user. Mappings of the
// same page do not become one.
static void flood(void) {
  enum { mappings = 20000, rounds = 4 };
  const size_t page = 4096;
  const int fd = open("/proc/self/exe", O_RDONLY);
  char* area =
      mmap(NULL, mappings * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (area == MAP_FAILED || setresuid(65534, 65534, 65534) != 0) fail("flood");
  for (size_t i = 0; i < mappings; i++)
    if (mmap(area + i * page, page, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
      fail("mmap");
  for (int i = 0; i < rounds; i++)
    if (mprotect(area, mappings * page, PROT_READ | PROT_EXEC) != 0 ||
        mprotect(area, mappings * page, PROT_READ) != 0)
      fail("mprotect");
}

// Maps /etc/passwd, executable, until a process of another user has ended that makes as many new
// mappings as it can. Prints "flooded PID mappings N".
static int map_beside_flood(void) {
  const int fd = open("/etc/passwd", O_RDONLY);
  const pid_t child = fork();
  unsigned long mapped = 0;
  int status;
  if (fd < 0 || child < 0) fail("fork");
  if (child == 0) {
    stay_on(0);
    flood();
    _exit(0);
  }
  stay_on(1);
  while (waitpid(child, &status, WNOHANG) == 0) {
    void* page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    if (page == MAP_FAILED) fail("mmap");
    mapped++;
    munmap(page, 4096);
    usleep(1000);
  }
  printf("flooded %d mappings %lu\n", getpid(), mapped);
  return status != 0;
}

// Executes 2 * count instructions and prints the extra time-stamp counter units. In the
// instruction-count lab these are the instructions of interrupts.
static int loop(uint64_t count) {
  uint64_t left = count;
  const uint64_t before = __rdtsc();
  __asm__ volatile("1: dec %0; jnz 1b" : "+r"(left));
  const uint64_t after = __rdtsc();
  printf("loop %llu extra %llu\n", (unsigned long long)(2 * count),
         (unsigned long long)(after - before - 2 * count));
  return 0;
}

int load_main(int argc, char** argv) {
  const char* command = argc > 0 ? argv[0] : "";
  const unsigned long long number = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;

  if (!strcmp(command, "spawn")) return spawn((unsigned int)number);
  if (!strcmp(command, "vfork")) return spawn_sharing(environ);
  if (!strcmp(command, "thread-exec")) return execute_in_thread();
  if (!strcmp(command, "load")) return load();
  if (!strcmp(command, "rename")) return rename_self();
  if (!strcmp(command, "threads")) return threads((unsigned int)number);
  if (!strcmp(command, "mremap")) return move_mapping();
  if (!strcmp(command, "flood")) return map_beside_flood();
  if (!strcmp(command, "loop") && number > 0) return loop(number);
  return -1;
}
