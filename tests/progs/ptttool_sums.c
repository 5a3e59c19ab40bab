// SPDX-License-Identifier: MIT
// PTT's accounts, and whether they add up.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ptttool.h"

#define ROWS 100000
#define CPUS 1024

static struct pitrace_ptt_thread threads[ROWS];
static struct pitrace_ptt_cpu cpus[CPUS];

static struct pitrace_ptt_dump take(void) {
  struct pitrace_ptt_dump dump = {.thread_rows = (uintptr_t)threads,
                                  .cpu_rows = (uintptr_t)cpus,
                                  .threads = ROWS,
                                  .cpus = CPUS};
  if (ioctl(control_open(), PITRACE_PTT_IOC_DUMP, &dump) != 0) fail("dump");
  return dump;
}

// Prints "sums METRIC threads N interrupt N idle N tool N elapsed N off N ..."; off must be 0.
static int sums(void) {
  const struct pitrace_ptt_dump dump = take();
  struct pitrace_ptt_info info;
  if (ioctl(control_open(), PITRACE_PTT_IOC_INFO, &info) != 0) fail("info");
  int good = 1;
  for (uint32_t m = 0; m < info.metrics; m++) {
    uint64_t thread = dump.forgotten[m] + dump.without_account[m];
    uint64_t interrupt = 0, idle = 0, tool = 0, elapsed = 0;
    for (uint32_t i = 0; i < dump.threads; i++) thread += threads[i].value[m];
    for (uint32_t i = 0; i < dump.cpus; i++) {
      interrupt += cpus[i].interrupt[m];
      idle += cpus[i].idle[m];
      elapsed += cpus[i].elapsed[m];
      if (info.metric[m].kind == PITRACE_PTT_CYCLES) tool += cpus[i].tool;
    }
    const int64_t off = (int64_t)(thread + interrupt + idle + tool - elapsed);
    printf("sums %u threads %llu interrupt %llu idle %llu tool %llu elapsed %llu off %lld\n", m,
           (unsigned long long)thread, (unsigned long long)interrupt, (unsigned long long)idle,
           (unsigned long long)tool, (unsigned long long)elapsed, (long long)off);
    good &= off == 0 && thread <= elapsed && interrupt <= elapsed && idle <= elapsed;
  }
  uint64_t dispatches = dump.forgotten_dispatches + dump.without_account_dispatches, all = 0;
  uint64_t interrupts = dump.forgotten_interrupts + dump.without_account_interrupts, all_interrupts = 0;
  for (uint32_t i = 0; i < dump.threads; i++) {
    dispatches += threads[i].dispatches;
    interrupts += threads[i].interrupts;
  }
  for (uint32_t i = 0; i < dump.cpus; i++) {
    dispatches += cpus[i].idle_dispatches;
    interrupts += cpus[i].idle_interrupts;
    all += cpus[i].dispatches;
    all_interrupts += cpus[i].interrupts;
  }
  printf(
      "counts dispatches %llu of %llu interrupts %llu of %llu threads %u cpus %u forgotten %llu "
      "without_account %llu\n",
      (unsigned long long)dispatches, (unsigned long long)all, (unsigned long long)interrupts,
      (unsigned long long)all_interrupts, dump.threads, dump.cpus,
      (unsigned long long)dump.forgotten_threads, (unsigned long long)dump.without_account_dispatches);
  return !(good && dispatches == all && interrupts == all_interrupts);
}

static int thread(uint32_t tid) {
  const struct pitrace_ptt_dump dump = take();
  for (uint32_t i = 0; i < dump.threads; i++) {
    if (tid && threads[i].tid != tid) continue;
    printf("thread %u pid %u name %s ended %u dispatches %llu interrupts %llu values",
           threads[i].tid, threads[i].pid, threads[i].name, threads[i].flags & PITRACE_PTT_ENDED,
           (unsigned long long)threads[i].dispatches, (unsigned long long)threads[i].interrupts);
    for (int m = 0; m < PITRACE_PTT_METRICS; m++)
      printf(" %llu", (unsigned long long)threads[i].value[m]);
    putchar('\n');
  }
  return 0;
}

int sums_main(int argc, char** argv) {
  if (argc > 0 && !strcmp(argv[0], "sums")) return sums();
  if (argc > 0 && !strcmp(argv[0], "thread")) return thread(argc > 1 ? (uint32_t)atoi(argv[1]) : 0);
  return -1;
}
