// SPDX-License-Identifier: MIT
// Which counts PTT shows to other threads of the address space, and which counters to which user.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ptttool.h"

static struct slots shared;
static const volatile struct pitrace_ptt_slot* shared_slot;
static const char* own_program;

static int say(const char* name, bool good) {
  printf("check %s %s\n", name, good ? "ok" : "FAILED");
  return !good;
}

// Attaches a slot in the parent's memory and executes another program, which runs until it is
// killed.
static int attach_and_exec(void* unused) {
  (void)unused;
  shared_slot = slot_attach(&shared);
  if (shared_slot) execl(own_program, own_program, "loop", "4000000000", "1000000", (char*)NULL);
  _exit(127);
}

// Waits at most one minute until the slot is inactive.
static bool becomes_inactive(const volatile struct pitrace_ptt_slot* slot) {
  for (int i = 0; i < 60000 && slot->active; i++) usleep(1000);
  return !slot->active;
}

static double cpu_seconds_of(pid_t pid) {
  clockid_t clock;
  struct timespec time;
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

// Waits at most one minute until a process has used 0.1 s more of CPU time.
static bool runs_on(pid_t pid) {
  const double before = cpu_seconds_of(pid);
  for (int i = 0; i < 60000 && cpu_seconds_of(pid) < before + 0.1; i++) usleep(1000);
  return cpu_seconds_of(pid) >= before + 0.1;
}

// Starts a child in this address space, which then executes another program. The kernel resumes
// this process when the child has left the address space, before the new program and its
// credentials are complete.
static int slot_ends_at_exec(void) {
  static char stack[65536] __attribute__((aligned(16)));
  shared = slots_open();
  const pid_t child =
      clone(attach_and_exec, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
  if (child < 0) fail("clone");
  const bool had_slot = shared_slot != NULL;
  const bool ended = had_slot && becomes_inactive(shared_slot);
  const uint64_t value = had_slot ? shared_slot->value[0] : 0;
  const uint64_t dispatches = had_slot ? shared_slot->dispatches : 0;
  const bool ran = runs_on(child);
  const bool stood_still =
      had_slot && shared_slot->value[0] == value && shared_slot->dispatches == dispatches;
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  int failures = say("child-had-a-slot", had_slot);
  failures += say("slot-ends-at-exec", ended);
  failures += say("next-program-runs", ran);
  return failures + say("slot-does-not-show-the-next-program", stood_still);
}

static int slot_ends_with_credentials(void) {
  struct slots slots = slots_open();
  const volatile struct pitrace_ptt_slot* slot = slot_attach(&slots);
  int failures = say("slot-before", slot && slot->active);
  if (setgroups(0, NULL) != 0 || setresuid(65534, 65534, 65534) != 0) fail("setresuid");
  failures += say("slot-ends-with-the-credentials", slot && becomes_inactive(slot));
  failures += say("another-one-begins", slot_attach(&slots) != NULL);
  return failures;
}

// Prints "shown withheld MASK read V slot V vector V error TEXT", for a page-fault counter besides
// cycles.
static int shown(void) {
  enum { pages = 100 };
  struct slots slots = slots_open();
  struct pitrace_ptt_info info;
  struct pitrace_ptt_read read = {.dispatches = 0};
  if (ioctl(slots.fd, PITRACE_PTT_IOC_INFO, &info) != 0) fail("info");
  const volatile struct pitrace_ptt_slot* slot = slot_attach(&slots);
  const char* error = slot ? "none" : strerror(errno);
  volatile char* memory =
      mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < pages; i++) memory[i * 4096] = 1;
  if (ioctl(slots.fd, PITRACE_PTT_IOC_READ, &read) != 0) error = strerror(errno);
  // Wait for an interrupt with a vector; if vectors are withheld, for 50 interrupts.
  for (int i = 0; slot && i < 2000 && !slot->last_vector && slot->interrupts < 50; i++)
    known_loop(1000000);
  printf("shown withheld %u read %llu slot %llu vector %u cycles %d error %s\n", info.withheld,
         (unsigned long long)read.value[1], (unsigned long long)(slot ? slot->value[1] : 0),
         slot ? slot->last_vector : 0, read.value[0] > 0, error);
  return 0;
}

// ---- a user's program, a setuid program, and the user's program again, in one thread ----

enum { faults_of_each = 5000, sleeps = 2000 };

static void cause_faults(void) {
  uint8_t* memory =
      mmap(NULL, faults_of_each * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail("mmap");
  madvise(memory, faults_of_each * 4096, MADV_NOHUGEPAGE);
  for (int i = 0; i < faults_of_each; i++) ((volatile uint8_t*)memory)[i * 4096] = 1;
}

// Prints "counts NAME euid N tid N faults N dispatches N cycles N slot-dispatches N".
static void print_counts(const char* name) {
  struct slots slots = slots_open();
  struct pitrace_ptt_read read = {.dispatches = 0};
  if (ioctl(slots.fd, PITRACE_PTT_IOC_READ, &read) != 0) fail("read");
  const volatile struct pitrace_ptt_slot* slot = slot_attach(&slots);
  if (!slot) fail("attach");
  printf("counts %s euid %d tid %d faults %llu dispatches %llu cycles %llu slot-dispatches %llu\n",
         name, (int)geteuid(), (int)gettid(), (unsigned long long)read.value[1],
         (unsigned long long)read.dispatches, (unsigned long long)read.value[0],
         (unsigned long long)slot->dispatches);
  fflush(stdout);
}

// Executes the setuid program, which gives up its rights and executes this one again.
static int before_setuid(const char* own, const char* setuid_program) {
  cause_faults();
  print_counts("before");
  execl(setuid_program, setuid_program, "setuid", own, (char*)NULL);
  fail(setuid_program);
}

static int with_setuid(const char* next) {
  cause_faults();
  for (int i = 0; i < sleeps; i++) usleep(1);
  print_counts("setuid");
  if (setresuid(getuid(), getuid(), getuid()) != 0) fail("setresuid");
  execl(next, next, "after-setuid", (char*)NULL);
  fail(next);
}

static int after_setuid(void) {
  print_counts("after");
  return 0;
}

int rights_main(int argc, char** argv) {
  const char* command = argc > 0 ? argv[0] : "";
  own_program = "/proc/self/exe";
  if (!strcmp(command, "slot-ends"))
    return (slot_ends_at_exec() + slot_ends_with_credentials()) != 0;
  if (!strcmp(command, "shown")) return shown();
  if (!strcmp(command, "before-setuid") && argc > 2) return before_setuid(argv[1], argv[2]);
  if (!strcmp(command, "setuid") && argc > 1) return with_setuid(argv[1]);
  if (!strcmp(command, "after-setuid")) return after_setuid();
  return -1;
}
