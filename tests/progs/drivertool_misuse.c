// SPDX-License-Identifier: MIT
// Calls that the module must refuse, and random calls.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "drivertool.h"

static int failures;

// Prints one line; the call must have failed with the given error (0: must have succeeded).
static void expect(const char* name, int error, bool succeeded) {
  const int seen = succeeded ? 0 : errno;
  printf("check %s %s (%s)\n", name, seen == error ? "ok" : "FAILED", strerror(seen));
  if (seen != error) failures++;
}

static bool maps(int fd, size_t bytes, int protection, uint64_t offset) {
  void* at = mmap(NULL, bytes, protection, MAP_SHARED, fd, (off_t)offset);
  if (at == MAP_FAILED) return false;
  munmap(at, bytes);
  return true;
}

static void refused_mappings(int fd) {
  const uint64_t offset = PITRACE_MMAP_OFFSET(PITRACE_BUFFER_TRACE, 0);
  const size_t bytes = PITRACE_HEAD_BYTES + 2 * 65536;

  expect("mmap-read", 0, maps(fd, bytes, PROT_READ, offset));
  expect("mmap-head-only", 0, maps(fd, 4096, PROT_READ, offset));
  expect("mmap-write-refused", EACCES, maps(fd, bytes, PROT_READ | PROT_WRITE, offset));
  expect("mmap-exec-refused", EACCES, maps(fd, bytes, PROT_READ | PROT_EXEC, offset));
  expect("mmap-too-long-refused", ENXIO, maps(fd, bytes + 4096, PROT_READ, offset));
  expect("mmap-inside-refused", ENXIO, maps(fd, 4096, PROT_READ, offset + 4096));
  expect("mmap-offset-0-refused", ENXIO, maps(fd, 4096, PROT_READ, 0));
  expect("mmap-kind-2-refused", ENXIO, maps(fd, 4096, PROT_READ, PITRACE_MMAP_OFFSET(2, 0)));
  expect("mmap-no-such-cpu-refused", ENXIO,
         maps(fd, 4096, PROT_READ, PITRACE_MMAP_OFFSET(PITRACE_BUFFER_MTE, 0xffff)));
  void* at = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, (off_t)offset);
  expect("mprotect-write-refused", EACCES, mprotect(at, bytes, PROT_READ | PROT_WRITE) == 0);
  expect("mprotect-exec-refused", EACCES, mprotect(at, bytes, PROT_READ | PROT_EXEC) == 0);
  munmap(at, bytes);
}

static bool allocates(int fd, uint64_t trace_bytes, uint64_t mte_bytes, uint32_t mode,
                      uint32_t flags) {
  struct pitrace_alloc alloc = {trace_bytes, mte_bytes, mode, flags, 0};
  return ioctl(fd, PITRACE_IOC_ALLOC, &alloc) == 0;
}

static void refused_allocs(int fd) {
  expect("alloc-nothing-refused", EINVAL, allocates(fd, 0, 65536, 0, 0));
  expect("alloc-4G-refused", EINVAL, allocates(fd, 1ull << 32, 65536, 0, 0));
  expect("alloc-overflow-refused", EINVAL, allocates(fd, ~0ull, ~0ull, 0, 0));
  expect("alloc-mode-refused", EINVAL, allocates(fd, 65536, 65536, 1, 0));
  expect("alloc-flags-refused", EINVAL, allocates(fd, 65536, 65536, 0, 2));
  // More than the memory of a lab, but within the limits: ENOMEM without the OOM killer.
  expect("alloc-more-than-there-is", ENOMEM,
         allocates(fd, (1ull << 32) - 65536, (1ull << 32) - 65536, 0, 0));
  expect("alloc", 0, allocates(fd, 65536, 65536, 0, 0));
  expect("alloc-again-refused", EBUSY, allocates(fd, 65536, 65536, 0, 0));
}

static void refused_to_others(void) {
  const int other = device_open();
  struct pitrace_info info;
  uint32_t major = PITRACE_MAJOR_TPROF;

  expect("other-alloc-refused", EBUSY, allocates(other, 65536, 65536, 0, 0));
  expect("other-on-refused", EPERM, ioctl(other, PITRACE_IOC_ON) == 0);
  expect("other-off-refused", EPERM, ioctl(other, PITRACE_IOC_OFF) == 0);
  expect("other-terminate-refused", EPERM, ioctl(other, PITRACE_IOC_TERMINATE) == 0);
  expect("other-enable-refused", EPERM, ioctl(other, PITRACE_IOC_ENABLE, &major) == 0);
  expect("other-mmap-refused", EPERM,
         maps(other, 4096, PROT_READ, PITRACE_MMAP_OFFSET(PITRACE_BUFFER_TRACE, 0)));
  expect("other-info", 0, ioctl(other, PITRACE_IOC_INFO, &info) == 0);
  expect("info-names-the-owner", 0, info.owner_pid == getpid());
  close(other);
}

static void refused_calls(int fd) {
  uint32_t rate = 0, major = PITRACE_MAJOR_TPROF_SET + 1, set = PITRACE_MAJOR_TPROF_SET;

  expect("rate-0-refused", EINVAL, ioctl(fd, PITRACE_IOC_RATE, &rate) == 0);
  rate = PITRACE_RATE_MAX + 1;
  expect("rate-above-maximum-refused", EINVAL, ioctl(fd, PITRACE_IOC_RATE, &rate) == 0);
  expect("major-256-refused", EINVAL, ioctl(fd, PITRACE_IOC_ENABLE, &major) == 0);
  expect("off-before-on-refused", EALREADY, ioctl(fd, PITRACE_IOC_OFF) == 0);
  expect("bad-pointer-refused", EFAULT, ioctl(fd, PITRACE_IOC_INFO, (void*)8) == 0);
  expect("unknown-ioctl-refused", ENOTTY, ioctl(fd, _IO(PITRACE_IOC_MAGIC, 0x7f)) == 0);
  expect("enable", 0, ioctl(fd, PITRACE_IOC_ENABLE, &set) == 0);
  expect("on", 0, ioctl(fd, PITRACE_IOC_ON) == 0);
  expect("on-again-refused", EALREADY, ioctl(fd, PITRACE_IOC_ON) == 0);
  rate = 100;
  expect("rate-while-on-refused", EBUSY, ioctl(fd, PITRACE_IOC_RATE, &rate) == 0);
  expect("off", 0, ioctl(fd, PITRACE_IOC_OFF) == 0);
}

// Writes a user hook record with the given header fields.
static bool hooks_of(int fd, uint32_t type_length, uint32_t major, uint32_t minor,
                     const uint32_t* data, uint32_t words) {
  static struct {
    struct pitrace_record header;
    uint32_t data[16384];
  } record;
  record.header.type_length = (uint16_t)type_length;
  record.header.major = (uint16_t)major;
  record.header.minor = minor;
  memcpy(record.data, data, 4 * words);
  return ioctl(fd, PITRACE_IOC_HOOK, &record) == 0;
}

static bool hooks(int fd, uint32_t type_length, uint32_t major, const uint32_t* data,
                  uint32_t words) {
  return hooks_of(fd, type_length, major, 0, data, words);
}

// Of the name major, programs may write only Java's two minors in their exact form.
static void refused_java_hooks(int fd) {
  static const uint32_t loaded[] = {1, 2, 3, 4, 5, 6};
  static const uint32_t thread[] = {6, 1, 2, 3, 4, 5, 0, 4, 0x6e69616d};
  const uint32_t mte = PITRACE_MAJOR_MTE;

  expect("hook-of-jitted-code", 0, hooks_of(fd, 32, mte, PITRACE_MTE_JITTED, loaded, 5));
  expect("hook-of-a-java-thread", 0,
         hooks_of(fd, 48 | PITRACE_TYPE_STRINGS, mte, PITRACE_MTE_JAVA_THREAD, thread, 9));
  expect("hook-of-jitted-code-too-long-refused", EINVAL,
         hooks_of(fd, 36, mte, PITRACE_MTE_JITTED, loaded, 6));
  expect("hook-of-a-nameless-java-thread-refused", EINVAL,
         hooks_of(fd, 36, mte, PITRACE_MTE_JAVA_THREAD, loaded, 6));
  expect("hook-of-a-module-refused", EINVAL, hooks_of(fd, 32, mte, PITRACE_MTE_MODULE, loaded, 5));
}

static void refused_hooks(int fd) {
  static const uint32_t strings[] = {1, 7, 4, 0x74786574};
  static const uint32_t long_string[] = {1, 7, 5, 0x74786574};
  static const uint32_t many_ints[] = {127, 7};
  uint32_t major = 0x30, names = PITRACE_MAJOR_MTE;

  expect("hook-before-on", 0, hooks(fd, 16, 0x30, strings, 1));
  expect("hook-enable", 0, ioctl(fd, PITRACE_IOC_ENABLE, &major) == 0);
  // Records of a disabled major are not validated, so enable it.
  expect("hook-enable-names", 0, ioctl(fd, PITRACE_IOC_ENABLE, &names) == 0);
  expect("hook-on", 0, ioctl(fd, PITRACE_IOC_ON) == 0);
  expect("hook-ints", 0, hooks(fd, 16, 0x30, strings, 1));
  expect("hook-strings", 0, hooks(fd, 28 | PITRACE_TYPE_STRINGS, 0x30, strings, 4));
  expect("hook-not-enabled", 0, hooks(fd, 16, 0x31, strings, 1));
  expect("hook-of-a-tick-refused", EINVAL, hooks(fd, 28, PITRACE_MAJOR_TPROF, strings, 4));
  expect("hook-of-a-name-refused", EINVAL, hooks(fd, 28, PITRACE_MAJOR_MTE, strings, 4));
  refused_java_hooks(fd);
  expect("hook-of-the-time-refused", EINVAL, hooks(fd, 16, PITRACE_MAJOR_TIME, strings, 1));
  expect("hook-of-major-0-refused", EINVAL, hooks(fd, 16, 0, strings, 1));
  expect("hook-of-major-65535-refused", EINVAL, hooks(fd, 16, 0xffff, strings, 1));
  expect("hook-without-header-refused", EINVAL, hooks(fd, 8, 0x30, strings, 0));
  expect("hook-of-type-1-refused", EINVAL, hooks(fd, 16 | 1, 0x30, strings, 1));
  expect("hook-string-beyond-refused", EINVAL,
         hooks(fd, 28 | PITRACE_TYPE_STRINGS, 0x30, long_string, 4));
  expect("hook-ints-beyond-refused", EINVAL,
         hooks(fd, 20 | PITRACE_TYPE_STRINGS, 0x30, many_ints, 2));
  expect("hook-too-long-refused", EMSGSIZE, hooks(fd, 0xfffc, 0x30, strings, 1));
  expect("hook-bad-pointer-refused", EFAULT, ioctl(fd, PITRACE_IOC_HOOK, (void*)8) == 0);
  expect("hook-off", 0, ioctl(fd, PITRACE_IOC_OFF) == 0);
  expect("hook-after-off", 0, hooks(fd, 16, 0x30, strings, 1));
}

static void refused_hook_pages(int fd) {
  expect("hook-page-read", 0, maps(fd, 4096, PROT_READ, PITRACE_MMAP_HOOK_PAGE));
  expect("hook-page-write-refused", EACCES,
         maps(fd, 4096, PROT_READ | PROT_WRITE, PITRACE_MMAP_HOOK_PAGE));
  expect("hook-page-too-long-refused", ENXIO, maps(fd, 8192, PROT_READ, PITRACE_MMAP_HOOK_PAGE));
}

static int refused(void) {
  const int fd = device_open();

  const uint32_t none = 0;
  expect("hook-without-trace-refused", ENXIO, hooks(fd, 16, 0x30, &none, 1));
  refused_hook_pages(fd);
  refused_allocs(fd);
  refused_hooks(fd);
  refused_mappings(fd);
  refused_to_others();
  refused_calls(fd);
  return failures != 0;
}

// Freed buffers stay valid while they are mapped; new buffers have other pages.
static int outlive(void) {
  static struct views views;
  const int fd = device_open();
  uint32_t set = PITRACE_MAJOR_TPROF_SET;

  device_alloc(fd, 65536, 1 << 20, 0);
  device_call(fd, PITRACE_IOC_ENABLE, &set, "enable");
  device_call(fd, PITRACE_IOC_ON, NULL, "on");
  device_call(fd, PITRACE_IOC_OFF, NULL, "off");
  views_map(&views, fd);
  device_call(fd, PITRACE_IOC_TERMINATE, NULL, "terminate");
  device_alloc(fd, 4 << 20, 4 << 20, 0);
  device_call(fd, PITRACE_IOC_ON, NULL, "on");
  close(fd);
  return walk_check(&views, false) ? 0 : 1;
}

// Buffers that are freed and still mapped take memory, and new ones leave an eighth in spite of
// them.
static int held(void) {
  static struct views views[3];
  const int fd = device_open();
  const uint64_t before = device_info(fd).largest;
  uint64_t bytes[3], all = 0;

  for (int i = 0; i < 3; i++) {
    bytes[i] = device_info(fd).largest / 2 & ~4095ull;
    device_alloc(fd, bytes[i], 65536, 0);
    views_map(&views[i], fd);
    device_call(fd, PITRACE_IOC_TERMINATE, NULL, "terminate");
    all += bytes[i];
  }
  const uint64_t left = device_info(fd).largest;
  printf("# largest %llu MB, held %llu MB, then %llu MB\n", (unsigned long long)before >> 20,
         (unsigned long long)all >> 20, (unsigned long long)left >> 20);
  // Other memory of the machine changes meanwhile.
  errno = ERANGE;
  expect("held-buffers-count", 0, all + left < before + before / 20);
  for (int i = 0; i < 3; i++) {
    for (unsigned int cpu = 0; cpu < views[i].cpus; cpu++) {
      void* at = (void*)views[i].of[PITRACE_BUFFER_TRACE][cpu].head;
      if (at) munmap(at, PITRACE_HEAD_BYTES + bytes[i]);
    }
  }
  errno = ERANGE;
  expect("unmapped-buffers-are-free", 0, device_info(fd).largest > before - before / 20);
  close(fd);
  return failures != 0;
}

// Makes the nth allocation of this thread from now on fail; 0: none. control is its fail-nth file.
static void fail_nth(int control, unsigned int nth) {
  char text[16];
  const int length = snprintf(text, sizeof text, "%u", nth);
  if (pwrite(control, text, (size_t)length, 0) != length) fail("write fail-nth");
}

// Returns whether the injected failure has occurred.
static bool has_failed(int control) {
  char text[16] = "";
  if (pread(control, text, sizeof text - 1, 0) <= 0) fail("read fail-nth");
  return atoi(text) == 0;
}

// Starts a trace repeatedly, each time with the next allocation failing. Ending a trace is not
// tested: the kernel's own removal of a probe does not recover from that (and warns).
static int without_memory(void) {
  uint32_t set = PITRACE_MAJOR_TPROF_SET;
  unsigned int nth = 0, refused = 0;
  bool failed;
  const int control = open("/proc/thread-self/fail-nth", O_RDWR);

  if (control < 0) fail("this kernel has no fault injection");
  do {
    const int fd = device_open();
    fail_nth(control, ++nth);
    bool good = allocates(fd, 65536, 1 << 20, 0, 0);
    good = good && ioctl(fd, PITRACE_IOC_ENABLE, &set) == 0 && ioctl(fd, PITRACE_IOC_ON) == 0;
    failed = has_failed(control);
    fail_nth(control, 0);
    if (!good) refused++;
    close(fd);
  } while (failed && nth < 10000);
  printf("without memory: %u allocations failed, %u of them were reported\n", nth - 1, refused);
  return refused > 0 && nth < 10000 ? 0 : 1;
}

static void random_ioctl(int fd) {
  static const unsigned long known[] = {
      PITRACE_IOC_ON,    PITRACE_IOC_OFF,    PITRACE_IOC_TERMINATE, PITRACE_IOC_INFO,
      PITRACE_IOC_ALLOC, PITRACE_IOC_ENABLE, PITRACE_IOC_DISABLE,   PITRACE_IOC_RATE,
      PITRACE_IOC_PROBE, PITRACE_IOC_HOOK,   PITRACE_IOC_STACKS,    PITRACE_IOC_EVENT,
      PITRACE_IOC_AI_ON, PITRACE_IOC_AI_OFF, PITRACE_IOC_AI_READ,   PITRACE_IOC_COPIES};
  uint64_t argument[64];
  unsigned long command = known[(unsigned int)rand() % (sizeof known / sizeof *known)];

  for (unsigned int i = 0; i < 64; i++)
    argument[i] =
        rand() % 4 ? (uint64_t)rand() % 300000 : (uint64_t)rand() << 33 ^ (uint64_t)rand();
  if (rand() % 2) argument[2] = 0;  // clears mode and flags, so that the allocation may succeed
  if (rand() % 16 == 0) command ^= 1ul << (rand() % 32);
  ioctl(fd, command, rand() % 16 ? (void*)argument : (void*)argument[0]);
}

static void random_mapping(int fd) {
  const uint64_t offset =
      rand() % 2 ? PITRACE_MMAP_OFFSET(rand() % 4, rand() % 4) : (uint64_t)rand() << 20;
  const size_t bytes = ((size_t)rand() % 64 + 1) * 4096;
  volatile char* at = mmap(NULL, bytes, rand() % 8 ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED,
                           fd, (off_t)offset);
  if (at == MAP_FAILED) return;
  (void)at[bytes - 1];
  if (rand() % 4) munmap((void*)at, bytes);
}

static int fuzz(double seconds, unsigned int seed) {
  struct timespec begin, now;
  unsigned long calls = 0;
  int fds[2] = {device_open(), device_open()};

  srand(seed);
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    int* fd = &fds[rand() % 2];
    if (rand() % 8 == 0)
      random_mapping(*fd);
    else
      random_ioctl(*fd);
    if (rand() % 256 == 0) {
      close(*fd);
      *fd = device_open();
    }
    calls++;
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) <
           seconds);
  printf("fuzz %lu calls\n", calls);
  return 0;
}

int misuse_main(int argc, char** argv) {
  const char* command = argc > 0 ? argv[0] : "";

  if (!strcmp(command, "refused")) return refused();
  if (!strcmp(command, "outlive")) return outlive();
  if (!strcmp(command, "held")) return held();
  if (!strcmp(command, "without-memory")) return without_memory();
  if (!strcmp(command, "fuzz") && argc > 2)
    return fuzz(atof(argv[1]), (unsigned int)strtoul(argv[2], NULL, 0));
  return -1;
}
