// SPDX-License-Identifier: MIT
// Workloads with known dispatches, system calls and exceptions.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>

#include "drivertool.h"

static void run_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) fail("sched_setaffinity");
}

// Prepares one of two processes that alternate on CPU 0: with SCHED_FIFO one runs only while the
// other waits or yields.
static void run_in_turns(void) {
  const struct sched_param param = {.sched_priority = 10};
  run_on(0);
  if (sched_setscheduler(0, SCHED_FIFO, &param) != 0) fail("sched_setscheduler");
}

static void pass(int from, int to) {
  char ball;
  if (read(from, &ball, 1) != 1 || write(to, &ball, 1) != 1) _exit(1);
}

// Two processes send each other a byte count times and wait for it: on one CPU, or each on its own
// CPU.
static int ping_pong(unsigned int count, bool apart) {
  int there[2], back[2];
  uint64_t spent = 0;

  if (pipe(there) != 0 || pipe(back) != 0) fail("pipe");
  if (!apart) run_in_turns();
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    if (apart) run_on(1);
    for (unsigned int i = 0; i < count; i++) pass(there[0], back[1]);
    _exit(0);
  }
  if (apart) run_on(0);
  if (write(there[1], "", 1) != 1) fail("write");
  const uint64_t before = __rdtsc();
  for (unsigned int i = 1; i < count; i++) pass(back[0], there[1]);
  spent = __rdtsc() - before;
  waitpid(child, NULL, 0);
  printf("pingpong %d %d rounds %u spent %llu\n", getpid(), child, count,
         (unsigned long long)spent);
  return 0;
}

// Two processes yield one CPU to each other: 2 * count dispatches without wake-ups.
static int yield(unsigned int count) {
  volatile bool* stop = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

  if (stop == MAP_FAILED) fail("mmap");
  run_in_turns();
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    while (!*stop) sched_yield();
    _exit(0);
  }
  sched_yield();
  const uint64_t before = __rdtsc();
  for (unsigned int i = 0; i < count; i++) sched_yield();
  const uint64_t spent = __rdtsc() - before;
  *stop = true;
  waitpid(child, NULL, 0);
  printf("yield %d %d dispatches %u spent %llu\n", getpid(), child, 2 * count,
         (unsigned long long)spent);
  return 0;
}

// Calls getppid exactly count times; prints the sum of their times and the minimum.
static int call(unsigned int count) {
  uint64_t sum = 0, least = UINT64_MAX;
  pid_t parent = 0;

  for (unsigned int i = 0; i < count; i++) {
    const uint64_t before = __rdtsc();
    parent = getppid();
    const uint64_t spent = __rdtsc() - before;
    sum += spent;
    if (spent < least) least = spent;
  }
  printf("getppid %d result %d calls %u spent %llu least %llu\n", getpid(), parent, count,
         (unsigned long long)sum, (unsigned long long)least);
  return 0;
}

static void print_address(const char* what, uint64_t address) {
  printf("%s %d %x %x\n", what, getpid(), (uint32_t)(address >> 32), (uint32_t)address);
}

// Touches new pages: each is one fault, at a printed address.
static int touch(unsigned int count) {
  const size_t page = 4096;
  char* at = mmap(NULL, count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (at == MAP_FAILED) fail("mmap");
  madvise(at, count * page, MADV_NOHUGEPAGE);  // fails if the kernel has no huge pages
  for (unsigned int i = 0; i < count; i++) at[i * page + i] = 1;
  for (unsigned int i = 0; i < count; i++) print_address("touched", (uint64_t)(at + i * page + i));
  return 0;
}

enum { TRAP_FLAG = 0x100, SKIPPED = 2 /* length of div %cl and of ud2 in bytes */ };

// Continues after the instruction; a trap already has, and only single-stepping is ended.
static void handle(int signal, siginfo_t* info, void* context) {
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  (void)info;
  if (signal == SIGTRAP)
    registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
  else
    registers[REG_RIP] += SKIPPED;
}

// Raises one exception of each kind that the kernel's die notifiers see, and prints its address.
static int traps(void) {
  const struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
  uint64_t at;

  sigaction(SIGTRAP, &action, NULL);
  sigaction(SIGFPE, &action, NULL);
  sigaction(SIGILL, &action, NULL);
  __asm__ volatile("lea 1f(%%rip), %0\n\tdiv %%cl\n1:" : "=r"(at) : "a"(1), "c"(0) : "cc");
  print_address("trap 00", at - SKIPPED);
  __asm__ volatile("pushf\n\torl %1, (%%rsp)\n\tlea 1f(%%rip), %0\n\tpopf\n\tnop\n1:"
                   : "=r"(at)
                   : "i"(TRAP_FLAG)
                   : "cc", "memory");
  print_address("trap 01", at);
  __asm__ volatile("lea 1f(%%rip), %0\n\tint3\n1:" : "=r"(at));
  print_address("trap 03", at);
  __asm__ volatile("lea 1f(%%rip), %0\n1:\tud2" : "=r"(at));
  print_address("trap 06", at);
  return 0;
}

int events_main(int argc, char** argv) {
  const char* command = argc > 0 ? argv[0] : "";
  const unsigned int number = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 0) : 0;

  if (!strcmp(command, "pingpong")) return ping_pong(number, argc > 2);
  if (!strcmp(command, "yield")) return yield(number);
  if (!strcmp(command, "getppid")) return call(number);
  if (!strcmp(command, "touch")) return touch(number);
  if (!strcmp(command, "traps")) return traps();
  return -1;
}
