// SPDX-License-Identifier: MIT
// Drives the pitrace module with only its ioctls and mappings, for the lab tests.
#include "drivertool.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char* const usage =
    "Usage: drivertool COMMAND [ARG]...\n"
    "  run [-r RATE] [-t TRACE-KB] [-m MTE-KB] [-s SECONDS] [-M MAJOR]... [-a] [-d] [-C "
    "BYTES:BUFFER-KB]\n"
    "      [-S STACKS:DEPTH] [-E TYPE:CONFIG:PERIOD[:FLAGS[:CONFIG1[:CONFIG2]]]] [-- COMMAND...]\n"
    "        traces for SECONDS or as long as COMMAND runs, checks the buffers, -d prints them\n"
    "  late [MAJOR]                    ticks, or the major (then printed), are enabled half a\n"
    "        second after on, and disabled half a second later\n"
    "  hold  traces until it is killed; prints ready when on\n"
    "  info | probes | open | alloc    one call and its result\n"
    "  refused                         checks that invalid calls fail\n"
    "  outlive                         a mapping stays readable when the buffers are freed\n"
    "  held                            freed buffers that are mapped count as used memory\n"
    "  without-memory                  each allocation fails in turn\n"
    "  fuzz SECONDS SEED               random ioctls and mappings\n"
    "  sample-refused | ai-refused     the same for stacks, event ticks and AboveIdle\n"
    "  ai-duty CPU PERCENT SECONDS     AboveIdle while the CPU spins for that share of the time\n"
    "  ai-watch SECONDS [COMMAND]      AboveIdle of all CPUs, after COMMAND\n"
    "  spawn N | vfork | load | rename | threads N | thread-exec | mremap | flood | loop N    "
    "workloads\n"
    "  pingpong N [apart] | yield N | getppid N | touch N | traps\n";

void fail(const char* what) {
  fprintf(stderr, "drivertool: %s: %s\n", what, strerror(errno));
  exit(1);
}

int device_open(void) {
  const int fd = open(PITRACE_DEVICE_PATH, O_RDWR | O_CLOEXEC);
  if (fd < 0) fail("open " PITRACE_DEVICE_PATH);
  return fd;
}

void device_call(int fd, unsigned long command, void* argument, const char* what) {
  if (ioctl(fd, command, argument) != 0) fail(what);
}

void device_alloc(int fd, uint64_t trace_bytes, uint64_t mte_bytes, uint32_t flags) {
  struct pitrace_alloc alloc = {.trace_bytes = trace_bytes, .mte_bytes = mte_bytes, .flags = flags};
  device_call(fd, PITRACE_IOC_ALLOC, &alloc, "alloc");
}

struct pitrace_info device_info(int fd) {
  struct pitrace_info info = {0};
  device_call(fd, PITRACE_IOC_INFO, &info, "info");
  return info;
}

void views_map(struct views* views, int fd) {
  const struct pitrace_info info = device_info(fd);

  memset(views, 0, sizeof *views);
  views->cpus = info.cpus_possible < MAX_CPUS ? info.cpus_possible : MAX_CPUS;
  for (uint32_t kind = 0; kind < PITRACE_BUFFERS_ALL; kind++) {
    const uint64_t bytes = kind == PITRACE_BUFFER_TRACE ? info.trace_bytes
                           : kind == PITRACE_BUFFER_MTE ? info.mte_bytes
                                                        : sample_copies_bytes();
    for (unsigned int cpu = 0; cpu < views->cpus; cpu++) {
      const uint8_t* at = mmap(NULL, PITRACE_HEAD_BYTES + bytes, PROT_READ, MAP_SHARED, fd,
                               (off_t)PITRACE_MMAP_OFFSET(kind, cpu));
      if (at == MAP_FAILED && errno == ENXIO) continue;
      if (at == MAP_FAILED) fail("mmap");
      views->of[kind][cpu].head = (const void*)at;
      views->of[kind][cpu].data = at + PITRACE_HEAD_BYTES;
    }
  }
}

struct options {
  uint32_t rate;
  uint64_t trace_bytes;
  uint64_t mte_bytes;
  double seconds;
  uint32_t majors[16];
  unsigned int major_count;
  bool anon;
  bool dump;
};

static struct options parse_options(int argc, char** argv) {
  struct options options = {
      .rate = 1000, .trace_bytes = 1 << 20, .mte_bytes = 4 << 20, .seconds = 1};
  int option;

  while ((option = getopt(argc, argv, "+r:t:m:s:M:adS:C:E:")) != -1) {
    switch (option) {
      case 'r':
        options.rate = (uint32_t)atoi(optarg);
        break;
      case 't':
        options.trace_bytes = strtoull(optarg, NULL, 0) << 10;
        break;
      case 'm':
        options.mte_bytes = strtoull(optarg, NULL, 0) << 10;
        break;
      case 's':
        options.seconds = atof(optarg);
        break;
      case 'M':
        if (options.major_count < 16)
          options.majors[options.major_count++] = (uint32_t)strtoul(optarg, NULL, 0);
        break;
      case 'a':
        options.anon = true;
        break;
      case 'd':
        options.dump = true;
        break;
      case 'S':
        sample_stacks(optarg);
        break;
      case 'C':
        sample_copies(optarg);
        break;
      case 'E':
        sample_event(optarg);
        break;
      default:
        fputs(usage, stderr);
        exit(2);
    }
  }
  if (options.major_count == 0) options.majors[options.major_count++] = PITRACE_MAJOR_TPROF_SET;
  return options;
}

static void run_command(char** command) {
  const pid_t child = fork();
  int status;

  if (child < 0) fail("fork");
  if (child == 0) {
    execvp(command[0], command);
    fail(command[0]);
  }
  if (waitpid(child, &status, 0) != child) fail("waitpid");
  printf("command pid %d status %d\n", child, WEXITSTATUS(status));
}

static void print_info(const struct pitrace_info* info) {
  printf("info state %u full %u rate %u interval %u owner %d failed %u nanoseconds %llu\n",
         info->state, info->full, info->rate, info->interval_id, info->owner_pid, info->cpus_failed,
         info->stop_time ? (unsigned long long)(info->stop_time - info->start_time) : 0ull);
}

static int print_probes(int fd) {
  for (uint32_t index = 0;; index++) {
    struct pitrace_probe probe = {.index = index};
    if (ioctl(fd, PITRACE_IOC_PROBE, &probe) != 0) return errno == ENOENT && index > 0 ? 0 : 1;
    printf("probe %s attached %u missed %llu\n", probe.name, probe.attached,
           (unsigned long long)probe.missed);
  }
}

static int run(int argc, char** argv) {
  static struct views views;
  struct options options = parse_options(argc, argv);
  const int fd = device_open();

  device_alloc(fd, options.trace_bytes, options.mte_bytes, options.anon ? PITRACE_ALLOC_ANON : 0);
  device_call(fd, PITRACE_IOC_RATE, &options.rate, "rate");
  sample_set(fd);
  for (unsigned int i = 0; i < options.major_count; i++)
    device_call(fd, PITRACE_IOC_ENABLE, &options.majors[i], "enable");
  device_call(fd, PITRACE_IOC_ON, NULL, "on");
  if (argv[optind])
    run_command(argv + optind);
  else
    usleep((useconds_t)(options.seconds * 1e6));
  device_call(fd, PITRACE_IOC_OFF, NULL, "off");

  const struct pitrace_info info = device_info(fd);
  print_info(&info);
  print_probes(fd);
  views_map(&views, fd);
  return walk_check(&views, options.dump) ? 0 : 1;
}

// The trace clock.
static unsigned long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1000000000ull * (unsigned long long)time.tv_sec + (unsigned long long)time.tv_nsec;
}

static int late(const char* argument) {
  static struct views views;
  const int fd = device_open();
  uint32_t major = PITRACE_MAJOR_TPROF, rate = 1000;
  unsigned long long enabled, disabled;

  if (argument) major = (uint32_t)strtoul(argument, NULL, 0);
  device_alloc(fd, 1 << 20, 1 << 20, 0);
  device_call(fd, PITRACE_IOC_RATE, &rate, "rate");
  device_call(fd, PITRACE_IOC_ON, NULL, "on");
  usleep(500000);
  enabled = now();
  device_call(fd, PITRACE_IOC_ENABLE, &major, "enable");
  usleep(500000);
  device_call(fd, PITRACE_IOC_DISABLE, &major, "disable");
  disabled = now();
  usleep(500000);
  device_call(fd, PITRACE_IOC_OFF, NULL, "off");
  printf("enabled from %llu to %llu\n", enabled, disabled);
  views_map(&views, fd);
  return walk_check(&views, argument) ? 0 : 1;
}

// Stays on until it is killed.
static int hold(void) {
  const int fd = device_open();
  uint32_t set = PITRACE_MAJOR_TPROF_SET;
  uint32_t rate = 2000;

  device_alloc(fd, 1 << 20, 1 << 20, 0);
  device_call(fd, PITRACE_IOC_RATE, &rate, "rate");
  device_call(fd, PITRACE_IOC_ENABLE, &set, "enable");
  device_call(fd, PITRACE_IOC_ON, NULL, "on");
  puts("ready");
  fflush(stdout);
  while (pause() == -1) continue;
  return 0;
}

int main(int argc, char** argv) {
  const char* command = argc > 1 ? argv[1] : "";
  int status;

  if (!strcmp(command, "run")) return run(argc - 1, argv + 1);
  if (!strcmp(command, "late")) return late(argv[2]);
  if (!strcmp(command, "hold")) return hold();
  if (!strcmp(command, "probes")) return print_probes(device_open());
  if (!strcmp(command, "info")) {
    const struct pitrace_info info = device_info(device_open());
    print_info(&info);
    return 0;
  }
  if (!strcmp(command, "open")) {
    device_open();
    return 0;
  }
  if (!strcmp(command, "alloc")) {
    device_alloc(device_open(), 65536, 65536, 0);
    return 0;
  }
  status = load_main(argc - 1, argv + 1);
  if (status < 0) status = events_main(argc - 1, argv + 1);
  if (status < 0) status = misuse_main(argc - 1, argv + 1);
  if (status < 0) status = sample_main(argc - 1, argv + 1);
  if (status >= 0) return status;
  fputs(usage, stderr);
  return 2;
}
