// SPDX-License-Identifier: MIT
// Work of known length, measured by the thread that executes it.
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "cost.h"
#include "ptttool.h"

static const struct pitrace_ptt_slot* my_slot(struct slots* slots) {
  *slots = slots_open();
  const struct pitrace_ptt_slot* slot = slot_attach(slots);
  if (!slot) fail("attach");
  return slot;
}

// Reads the counts once: the module changes them at any time, so they are volatile.
static struct pitrace_ptt_slot look(const volatile struct pitrace_ptt_slot* slot) {
  const struct pitrace_ptt_slot now = {
      .changes = slot->changes, .dispatches = slot->dispatches, .interrupts = slot->interrupts};
  return now;
}

// Interrupts of the first processor's timer, by the kernel's count.
static uint64_t timer_interrupts(void) {
  char line[1024];
  unsigned long long count = 0;
  FILE* file = fopen("/proc/interrupts", "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, " LOC: %llu", &count) == 1) break;
  if (file) fclose(file);
  return count;
}

// Prints "loop INSTRUCTIONS value COUNT constant COUNT-INSTRUCTIONS elapsed COUNT timers N changes
// N dispatches N interrupts N".
static int loop(uint64_t count, int rounds) {
  struct slots slots;
  const struct pitrace_ptt_slot* slot = my_slot(&slots);
  for (int round = -1; round < rounds; round++) {
    const uint64_t timers = timer_interrupts();
    const struct pitrace_ptt_slot old = look(slot);
    uint64_t before, after;
    const uint64_t begin = __rdtsc();
    PiPttReadCycles(slot, &before);
    known_loop(count);
    const int good = PiPttReadCycles(slot, &after);
    const uint64_t elapsed = __rdtsc() - begin;
    if (!good) return 1;
    const struct pitrace_ptt_slot now = look(slot);
    // The first round has page faults and cold caches.
    if (round < 0) continue;
    printf("loop %llu value %llu constant %lld elapsed %llu timers %llu changes %llu dispatches %llu "
           "interrupts %llu\n",
           (unsigned long long)(2 * count), (unsigned long long)(after - before),
           (long long)(after - before - 2 * count), (unsigned long long)elapsed,
           (unsigned long long)(timer_interrupts() - timers),
           (unsigned long long)(now.changes - old.changes),
           (unsigned long long)(now.dispatches - old.dispatches),
           (unsigned long long)(now.interrupts - old.interrupts));
  }
  return 0;
}

static int costs(void) {
  struct slots slots;
  const struct pitrace_ptt_slot* slot = my_slot(&slots);
  struct pitrace_ptt_read by_call;
  struct timespec time;
  uint64_t value;
  // Keeps the compiler from removing unused results.
  volatile uint64_t result;
  COST("rdtsc", result = __rdtsc());
  COST("slot", result = PiPttReadCycles(slot, &value) ? value : 0);
  COST("call", ioctl(slots.fd, PITRACE_PTT_IOC_READ, &by_call));
  COST("clock", clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time));
  COST("getppid", syscall(SYS_getppid));
  struct rusage usage;
  COST("getrusage", getrusage(RUSAGE_THREAD, &usage));
  struct perf_event_attr attr = {
      .type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_PAGE_FAULTS};
  const int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
  if (fd >= 0) COST("perf-read", (void)!read(fd, &value, sizeof value));
  (void)result;
  return 0;
}

struct reading {
  uint64_t cycles, changes;
  bool whole;  // no change occurred during the read
};

// Like PiPttReadCycles(), but without retries: a retry would add its own cost.
static inline struct reading read_once(const struct pitrace_ptt_slot* slot) {
  const volatile struct pitrace_ptt_slot* counts = slot;
  struct reading now = {.changes = counts->changes};
  now.cycles = counts->value[0] + __rdtsc();
  now.whole = now.changes == counts->changes;
  return now;
}

// Measures the distance of two reads without interrupts, and what an interrupt between them adds.
// Prints "left INSTRUCTIONS changes N times N" for each kind found.
static int interrupts(double seconds) {
  enum { kinds = 64 };
  struct {
    uint64_t left, changes, times;
  } seen[kinds] = {{0}};
  int used = 0;
  struct slots slots;
  const struct pitrace_ptt_slot* slot = my_slot(&slots);
  uint64_t least = ~0ull, interrupts_met = 0;
  const time_t end = time(NULL) + (time_t)seconds;
  while (time(NULL) < end) {
    const uint64_t dispatches = look(slot).dispatches;
    struct reading old = read_once(slot), now = old;
    for (uint64_t round = 0; round < 1000000 && old.whole; round++) {
      now = read_once(slot);
      if (!now.whole || now.changes != old.changes) break;
      // The first round is shorter than the following ones.
      if (round > 0 && now.cycles - old.cycles < least) least = now.cycles - old.cycles;
      old = now;
    }
    if (!old.whole || !now.whole || now.changes == old.changes) continue;
    if (look(slot).dispatches != dispatches) continue;
    const uint64_t left = now.cycles - old.cycles - least, changes = now.changes - old.changes;
    int k = 0;
    while (k < used && (seen[k].left != left || seen[k].changes != changes)) k++;
    if (k < kinds) {
      seen[k].left = left;
      seen[k].changes = changes;
      seen[k].times++;
      if (k == used) used++;
    }
    interrupts_met++;
  }
  printf("between %llu interrupts %llu\n", (unsigned long long)least,
         (unsigned long long)interrupts_met);
  for (int k = 0; k < used; k++)
    printf("left %llu changes %llu times %llu\n", (unsigned long long)seen[k].left,
           (unsigned long long)seen[k].changes, (unsigned long long)seen[k].times);
  return 0;
}

static int compare(const void* a, const void* b) {
  const uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return x < y ? -1 : x > y;
}

// Two processes yield one CPU to each other: measures what each dispatch adds to this one.
static int yielding(uint64_t count) {
  struct slots slots;
  const struct pitrace_ptt_slot* slot = my_slot(&slots);
  uint64_t* left = calloc(count, sizeof *left);
  const pid_t other = fork();
  while (other == 0) sched_yield();
  uint64_t used = 0;
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t dispatches = look(slot).dispatches;
    uint64_t before, after;
    PiPttReadCycles(slot, &before);
    sched_yield();
    PiPttReadCycles(slot, &after);
    if (look(slot).dispatches == dispatches + 1) left[used++] = after - before;
  }
  kill(other, SIGKILL);
  waitpid(other, NULL, 0);
  qsort(left, used, sizeof *left, compare);
  if (!used) return 1;
  printf("dispatch min %llu median %llu max %llu of %llu\n", (unsigned long long)left[0],
         (unsigned long long)left[used / 2], (unsigned long long)left[used - 1],
         (unsigned long long)used);
  return 0;
}

// Causes count page faults, and prints the kernel's and PTT's count of them.
static int faults(uint64_t count) {
  struct slots slots;
  my_slot(&slots);
  struct pitrace_ptt_read before, after;
  uint8_t* memory =
      mmap(NULL, count * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, count * 4096, MADV_NOHUGEPAGE);
  if (ioctl(slots.fd, PITRACE_PTT_IOC_READ, &before) != 0) fail("read");
  if (ioctl(slots.fd, PITRACE_PTT_IOC_READ, &before) != 0) fail("read");
  for (uint64_t i = 0; i < count; i++) ((volatile uint8_t*)memory)[i * 4096] = 1;
  if (ioctl(slots.fd, PITRACE_PTT_IOC_READ, &after) != 0) fail("read");
  printf("faults %llu counted %llu cycles %llu\n", (unsigned long long)count,
         (unsigned long long)(after.value[1] - before.value[1]),
         (unsigned long long)(after.value[0] - before.value[0]));
  return 0;
}

int work_main(int argc, char** argv) {
  const char* command = argc > 0 ? argv[0] : "";
  const uint64_t number = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
  if (!strcmp(command, "loop")) return loop(number, argc > 2 ? atoi(argv[2]) : 1);
  if (!strcmp(command, "costs")) return costs();
  if (!strcmp(command, "interrupts")) return interrupts((double)number);
  if (!strcmp(command, "yield")) return yielding(number);
  if (!strcmp(command, "faults")) return faults(number);
  return -1;
}
