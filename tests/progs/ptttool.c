// SPDX-License-Identifier: MIT
// Exercises PTT in the lab, through the module's own interface: the expected counts are known by
// construction.
#include "ptttool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static const char usage[] =
    "Usage: ptttool COMMAND\n"
    "  init [keep|force|pids=N|threads=N|TYPE:CONFIG[:CONFIG1[:CONFIG2]] [user]]... [-- COMMAND]   "
    "cycles, and counters "
    "besides\n"
    "  term | ints 0|1                                 the instance\n"
    "  sums                                            checks that all accounts add up to "
    "the counts\n"
    "  thread [TID]                                    one thread's account, or all\n"
    "  loop N ROUNDS                                   2 N instructions, by a slot\n"
    "  costs                                           costs of a read and of a system call\n"
    "  interrupts SECONDS                              overhead of each interrupt on the thread\n"
    "  yield N                                         overhead of each dispatch on the thread\n"
    "  reads N [slot|fake|torn]                        checks that reads never go backwards or tear\n"
    "  many PROCESSES THREADS                          each checks its own counts\n"
    "  faults N | exec 0|1 | exits N | wait            other workloads\n"
    "  kernel SECONDS                                  compares with the kernel's counts\n"
    "  slot-ends | shown                               counts shown to other users\n"
    "  before-setuid OWN SETUID-PROGRAM                counts before, in and after a setuid program\n"
    "  misuse | exhaust | unprivileged | fuzz N SEED   errors only\n";

void fail(const char* what) {
  fprintf(stderr, "ptttool: %s: %s\n", what, strerror(errno));
  exit(1);
}

int control_open(void) {
  const int fd = open(PITRACE_DEVICE_PATH, O_RDWR | O_CLOEXEC);
  if (fd < 0) fail(PITRACE_DEVICE_PATH);
  return fd;
}

struct slots slots_open(void) {
  struct slots slots = {.fd = open(PITRACE_PTT_DEVICE_PATH, O_RDWR | O_CLOEXEC)};
  if (slots.fd < 0) fail(PITRACE_PTT_DEVICE_PATH);
  slots.base = mmap(NULL, PITRACE_PTT_AREA_BYTES, PROT_READ, MAP_SHARED, slots.fd, 0);
  if (slots.base == MAP_FAILED) fail("mmap");
  return slots;
}

const struct pitrace_ptt_slot* slot_attach(const struct slots* slots) {
  uint64_t offset = 0;
  if (ioctl(slots->fd, PITRACE_PTT_IOC_ATTACH, &offset) != 0) return NULL;
  return (const void*)(slots->base + offset);
}

static void read_metric(const char* text, struct pitrace_ptt_metric* metric) {
  unsigned long long value[4] = {0};
  sscanf(text, "%lli:%lli:%lli:%lli", (long long*)&value[0], (long long*)&value[1],
         (long long*)&value[2], (long long*)&value[3]);
  metric->kind = PITRACE_PTT_COUNTER;
  metric->type = (uint32_t)value[0];
  metric->config = value[1];
  metric->config1 = value[2];
  metric->config2 = value[3];
}

static int init(int argc, char** argv) {
  struct pitrace_ptt_init wanted = {
      .metrics = 1, .threads = PITRACE_PTT_THREADS_DEFAULT, .pids = 4194304};
  int i;
  for (i = 0; i < argc && strcmp(argv[i], "--"); i++) {
    if (!strcmp(argv[i], "keep"))
      wanted.flags |= PITRACE_PTT_KEEP;
    else if (!strcmp(argv[i], "force"))
      wanted.flags |= PITRACE_PTT_FORCE;
    else if (!strncmp(argv[i], "threads=", 8))
      wanted.threads = (uint32_t)atoi(argv[i] + 8);
    else if (!strncmp(argv[i], "pids=", 5))
      wanted.pids = (uint32_t)atoi(argv[i] + 5);
    else if (!strcmp(argv[i], "user"))
      wanted.metric[wanted.metrics - 1].flags = PITRACE_PTT_NO_KERNEL;
    else if (wanted.metrics < PITRACE_PTT_METRICS)
      read_metric(argv[i], &wanted.metric[wanted.metrics++]);
  }
  if (ioctl(control_open(), PITRACE_PTT_IOC_INIT, &wanted) != 0) fail("init");
  if (i + 1 >= argc) return 0;
  argv[argc] = NULL;
  const int status = system(argv[i + 1]);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int control(unsigned long request, void* argument, const char* what) {
  if (ioctl(control_open(), request, argument) != 0) fail(what);
  return 0;
}

int main(int argc, char** argv) {
  const char* command = argc > 1 ? argv[1] : "";
  const uint64_t number = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
  if (!strcmp(command, "init")) return init(argc - 2, argv + 2);
  if (!strcmp(command, "term")) return control(PITRACE_PTT_IOC_TERM, NULL, "term");
  if (!strcmp(command, "ints")) {
    uint32_t ints = (uint32_t)number;
    return control(PITRACE_PTT_IOC_INTS, &ints, "ints");
  }
  int status = sums_main(argc - 1, argv + 1);
  if (status < 0) status = work_main(argc - 1, argv + 1);
  if (status < 0) status = crowd_main(argc - 1, argv + 1);
  if (status < 0) status = kernel_main(argc - 1, argv + 1);
  if (status < 0) status = misuse_main(argc - 1, argv + 1);
  if (status < 0) status = rights_main(argc - 1, argv + 1);
  if (status < 0) {
    fputs(usage, stderr);
    status = 255;
  }
  return status;
}
