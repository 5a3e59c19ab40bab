// SPDX-License-Identifier: MIT
// Settings of ticks and stacks for drivertool's traces, and tests of AboveIdle.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "drivertool.h"

// ---- options of a trace ----

static struct pitrace_stacks stacks = {.depth = PITRACE_STACK_DEPTH_DEFAULT};
static struct pitrace_event event = {.type = PITRACE_EVENT_TIME};

void sample_stacks(const char* text) {
  sscanf(text, "%u:%u", &stacks.which, &stacks.depth);
}

static struct pitrace_copies copies;

void sample_copies(const char* text) {
  unsigned long long kilobytes = 0;
  sscanf(text, "%u:%llu", &copies.bytes, &kilobytes);
  copies.buffer_bytes = kilobytes << 10;
}

uint64_t sample_copies_bytes(void) {
  return copies.buffer_bytes;
}

void sample_event(const char* text) {
  unsigned long long config = 0, config1 = 0, config2 = 0, period = 0;
  sscanf(text, "%u:%llu:%llu:%u:%llu:%llu", &event.type, &config, &period, &event.flags, &config1,
         &config2);
  event.config = config;
  event.config1 = config1;
  event.config2 = config2;
  event.period = period;
}

void sample_set(int fd) {
  if (stacks.which) device_call(fd, PITRACE_IOC_STACKS, &stacks, "stacks");
  if (copies.bytes) device_call(fd, PITRACE_IOC_COPIES, &copies, "copies");
  if (event.type != PITRACE_EVENT_TIME) device_call(fd, PITRACE_IOC_EVENT, &event, "event");
}

// ---- calls that must fail ----

static int failures;

// Prints one line; the call must have failed with the given error (0: must have succeeded).
static void expect(const char* name, int error, bool succeeded) {
  const int seen = succeeded ? 0 : errno;
  printf("check %s %s (%s)\n", name, seen == error ? "ok" : "FAILED", strerror(seen));
  if (seen != error) failures++;
}

static bool takes_stacks(int fd, uint32_t which, uint32_t depth) {
  struct pitrace_stacks wanted = {.which = which, .depth = depth};
  return ioctl(fd, PITRACE_IOC_STACKS, &wanted) == 0;
}

static bool takes_copies(int fd, uint32_t bytes, uint32_t reserved, uint64_t buffer_bytes) {
  struct pitrace_copies wanted = {bytes, reserved, buffer_bytes};
  return ioctl(fd, PITRACE_IOC_COPIES, &wanted) == 0;
}

static bool takes_event(int fd, uint32_t type, uint64_t config, uint64_t period, uint32_t flags) {
  struct pitrace_event wanted = {.type = type, .config = config, .period = period, .flags = flags};
  return ioctl(fd, PITRACE_IOC_EVENT, &wanted) == 0;
}

// A trace buffer of the largest size leaves an eighth of the memory, for others.
static bool takes_copies_of_the_last_eighth(void) {
  struct pitrace_info info;
  const int fd = device_open();

  device_call(fd, PITRACE_IOC_INFO, &info, "info");
  device_alloc(fd, info.largest - (8u << 20), 65536, 0);
  // Half of that eighth, and what the buffer has left.
  const bool taken = takes_copies(fd, 512, 0, info.largest / 14 + (8u << 20));
  const int error = errno;
  close(fd);
  errno = error;
  return taken;
}

static int sample_refused(void) {
  expect("copies-of-the-last-eighth-refused", ENOMEM, takes_copies_of_the_last_eighth());
  const uint32_t faults = PERF_COUNT_SW_PAGE_FAULTS;
  const int fd = device_open(), other = device_open();

  device_alloc(fd, 65536, 65536, 0);
  expect("stacks", 0, takes_stacks(fd, 3, 127));
  expect("stacks-off", 0, takes_stacks(fd, 0, 1));
  expect("stacks-which-refused", EINVAL, takes_stacks(fd, 4, 64));
  expect("stacks-depth-0-refused", EINVAL, takes_stacks(fd, 1, 0));
  expect("stacks-depth-128-refused", EINVAL, takes_stacks(fd, 1, 128));
  expect("stacks-of-another-refused", EPERM, takes_stacks(other, 1, 64));
  expect("copies", 0, takes_copies(fd, 61440, 0, 4 * 61600));
  expect("copies-again", 0, takes_copies(fd, 512, 0, 4096));
  expect("copies-off", 0, takes_copies(fd, 0, 0, 0));
  expect("copies-too-few-bytes-refused", EINVAL, takes_copies(fd, 504, 0, 1 << 20));
  expect("copies-too-many-bytes-refused", EINVAL, takes_copies(fd, 61448, 0, 1 << 20));
  expect("copies-odd-bytes-refused", EINVAL, takes_copies(fd, 516, 0, 1 << 20));
  expect("copies-reserved-refused", EINVAL, takes_copies(fd, 512, 1, 1 << 20));
  expect("copies-small-buffer-refused", EINVAL, takes_copies(fd, 61440, 0, 3 * 61600));
  expect("copies-huge-buffer-refused", EINVAL, takes_copies(fd, 512, 0, 1ull << 32));
  expect("copies-without-memory-refused", ENOMEM, takes_copies(fd, 512, 0, (1ull << 32) - 8192));
  expect("copies-of-another-refused", EPERM, takes_copies(other, 512, 0, 1 << 20));
  expect("event", 0, takes_event(fd, PERF_TYPE_SOFTWARE, faults, 10, 0));
  expect("event-period-0-refused", EINVAL, takes_event(fd, PERF_TYPE_SOFTWARE, faults, 0, 0));
  expect("event-period-negative-refused", EINVAL,
         takes_event(fd, PERF_TYPE_SOFTWARE, faults, ~0ull, 0));
  expect("event-flags-refused", EINVAL, takes_event(fd, PERF_TYPE_SOFTWARE, faults, 10, 8));
  expect("event-of-nothing-refused", EINVAL, takes_event(fd, PERF_TYPE_SOFTWARE, faults, 10, 3));
  expect("event-clock-too-fast-refused", EINVAL,
         takes_event(fd, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 9999, 0));
  expect("event-no-hardware", ENOENT,
         takes_event(fd, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1000000, 0));
  expect("event-no-such-pmu", ENOENT, takes_event(fd, 99999, 0, 1000000, 0));
  expect("event-of-another-refused", EPERM, takes_event(other, PERF_TYPE_SOFTWARE, faults, 10, 0));
  expect("sample-on", 0, ioctl(fd, PITRACE_IOC_ON) == 0);
  expect("stacks-while-on-refused", EBUSY, takes_stacks(fd, 1, 64));
  expect("copies-while-on-refused", EBUSY, takes_copies(fd, 512, 0, 1 << 20));
  expect("event-while-on-refused", EBUSY, takes_event(fd, PERF_TYPE_SOFTWARE, faults, 10, 0));
  expect("sample-off", 0, ioctl(fd, PITRACE_IOC_OFF) == 0);
  expect("event-time", 0, takes_event(fd, PITRACE_EVENT_TIME, 0, 0, 0));
  return failures != 0;
}

// ---- AboveIdle ----

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static struct pitrace_ai ai_read(int fd, uint32_t cpu) {
  struct pitrace_ai ai = {.cpu = cpu};
  device_call(fd, PITRACE_IOC_AI_READ, &ai, "ai read");
  return ai;
}

static struct pitrace_ai difference(const struct pitrace_ai* before,
                                    const struct pitrace_ai* after) {
  const struct pitrace_ai result = {
      .cpu = after->cpu,
      .now = after->now - before->now,
      .idle = after->idle - before->idle,
      .busy = after->busy - before->busy,
      .interrupt = after->interrupt - before->interrupt,
      .dispatches = after->dispatches - before->dispatches,
      .interrupts = after->interrupts - before->interrupts,
  };
  return result;
}

static void print_ai(const struct pitrace_ai* ai) {
  const double whole = ai->now ? (double)ai->now / 100 : 1;
  printf(
      "ai cpu %u idle %.3f busy %.3f interrupt %.3f milliseconds %.3f dispatches %llu interrupts "
      "%llu sum %s\n",
      ai->cpu, (double)ai->idle / whole, (double)ai->busy / whole, (double)ai->interrupt / whole,
      (double)ai->now / 1e6, (unsigned long long)ai->dispatches, (unsigned long long)ai->interrupts,
      ai->now == ai->idle + ai->busy + ai->interrupt ? "exact" : "WRONG");
}

static void run_on(uint32_t cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) fail("sched_setaffinity");
}

static void sleep_until(uint64_t time) {
  const struct timespec at = {.tv_sec = (time_t)(time / 1000000000u),
                              .tv_nsec = (long)(time % 1000000000u)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

// Returns the nanoseconds that tasks ran on a CPU, from the kernel's accounting up to the last
// dispatch there.
static uint64_t ran_on(uint32_t cpu) {
  FILE* file = fopen("/proc/schedstat", "r");
  char line[512];
  unsigned found = 0;
  unsigned long long ran = 0;

  if (!file) fail("/proc/schedstat");
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "cpu%u %*u %*u %*u %*u %*u %*u %llu", &found, &ran) == 2 && found == cpu)
      break;
    ran = 0;
  }
  fclose(file);
  return ran;
}

// Spins for the given share of each 0.1 s on that CPU. Prints the time really spun, as the host may
// delay the end of an interval, and the time that all tasks ran there.
static int ai_duty(uint32_t cpu, double percent, double seconds) {
  const int fd = device_open();
  const uint64_t turn = 100000000;
  uint64_t spun = 0;

  run_on(cpu);
  device_call(fd, PITRACE_IOC_AI_ON, NULL, "ai on");
  usleep(100000);
  const uint64_t ran_before = ran_on(cpu);
  const struct pitrace_ai before = ai_read(fd, cpu);
  const uint64_t start = now();
  for (uint64_t at = start; at < start + (uint64_t)(seconds * 1e9); at += turn) {
    const uint64_t begin = now();
    while (now() < at + (uint64_t)(percent / 100 * (double)turn)) continue;
    spun += now() - begin;
    sleep_until(at + turn);
  }
  const struct pitrace_ai after = ai_read(fd, cpu);
  const uint64_t wall = now() - start, ran = ran_on(cpu) - ran_before;
  const struct pitrace_ai ai = difference(&before, &after);
  print_ai(&ai);
  printf("duty cpu %u spun %.3f ran %.3f milliseconds %.3f\n", cpu,
         100 * (double)spun / (double)wall, 100 * (double)ran / (double)wall, (double)wall / 1e6);
  return 0;
}

// Prints AboveIdle of all CPUs over that time, after running the command if given.
static int ai_watch(double seconds, const char* command) {
  const int fd = device_open();

  device_call(fd, PITRACE_IOC_AI_ON, NULL, "ai on");
  if (command && system(command) != 0) return 1;
  usleep((useconds_t)(seconds * 1e6));
  const uint32_t cpus = device_info(fd).cpus_possible;
  for (uint32_t cpu = 0; cpu < cpus; cpu++) {
    struct pitrace_ai ai = {.cpu = cpu};
    if (ioctl(fd, PITRACE_IOC_AI_READ, &ai) == 0)
      print_ai(&ai);
    else
      printf("ai cpu %u error %s\n", cpu, strerror(errno));
  }
  return 0;
}

static int ai_refused(void) {
  const int one = device_open(), two = device_open();
  struct pitrace_ai ai = {.cpu = 0};

  expect("ai-read-before-on-refused", EINVAL, ioctl(one, PITRACE_IOC_AI_READ, &ai) == 0);
  expect("ai-off-before-on-refused", EINVAL, ioctl(one, PITRACE_IOC_AI_OFF) == 0);
  expect("ai-on", 0, ioctl(one, PITRACE_IOC_AI_ON) == 0);
  expect("ai-on-again-refused", EALREADY, ioctl(one, PITRACE_IOC_AI_ON) == 0);
  expect("ai-read-of-another-refused", EINVAL, ioctl(two, PITRACE_IOC_AI_READ, &ai) == 0);
  expect("ai-on-for-a-second-file", 0, ioctl(two, PITRACE_IOC_AI_ON) == 0);
  usleep(1000);
  const struct pitrace_ai before = ai_read(two, 0);
  close(one);
  usleep(1000);
  const struct pitrace_ai after = ai_read(two, 0);
  expect("ai-goes-on-for-the-other", 0, after.now > before.now && before.now > 0);
  ai.cpu = 99999;
  expect("ai-no-such-cpu", ENXIO, ioctl(two, PITRACE_IOC_AI_READ, &ai) == 0);
  ai.cpu = ~0u;
  expect("ai-no-cpu-at-all", ENXIO, ioctl(two, PITRACE_IOC_AI_READ, &ai) == 0);
  expect("ai-off", 0, ioctl(two, PITRACE_IOC_AI_OFF) == 0);
  expect("ai-on-once-more", 0, ioctl(two, PITRACE_IOC_AI_ON) == 0);
  return failures != 0;
}

int sample_main(int argc, char** argv) {
  const char* command = argc > 0 ? argv[0] : "";

  if (!strcmp(command, "sample-refused")) return sample_refused();
  if (!strcmp(command, "ai-refused")) return ai_refused();
  if (!strcmp(command, "ai-duty") && argc > 3)
    return ai_duty((uint32_t)atoi(argv[1]), atof(argv[2]), atof(argv[3]));
  if (!strcmp(command, "ai-watch") && argc > 1)
    return ai_watch(atof(argv[1]), argc > 2 ? argv[2] : NULL);
  return -1;
}
