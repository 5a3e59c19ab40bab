// SPDX-License-Identifier: MIT
// All calls of PTT that must be refused, with their errors. Prints one "check NAME ok|FAILED" line
// for each.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ptttool.h"

static int failures;

static void say(const char* name, bool good) {
  printf("check %s %s\n", name, good ? "ok" : "FAILED");
  failures += !good;
}

static void refused(const char* name, long result, int error) {
  const int found = result == -1 ? errno : 0;
  if (found != error) printf("# %s: %s\n", name, strerror(found));
  say(name, found == error);
}

static long area_map(int fd, size_t bytes, int protection, off_t offset) {
  return (long)mmap(NULL, bytes, protection, MAP_SHARED, fd, offset);
}

// Acts as a program built for smaller areas: a mapping of one page, and one thread more than it has
// slots.
struct crowd {
  pthread_barrier_t all;
  int fd;
  atomic_int attached, full;
};

static void* attach_in_crowd(void* data) {
  struct crowd* crowd = data;
  uint64_t offset;
  if (ioctl(crowd->fd, PITRACE_PTT_IOC_ATTACH, &offset) == 0)
    atomic_fetch_add(&crowd->attached, offset < 4096);
  else
    atomic_fetch_add(&crowd->full, errno == ENOSPC);
  pthread_barrier_wait(&crowd->all);
  return NULL;
}

static void slots_of_a_small_mapping(void) {
  enum { slots = 4096 / sizeof(struct pitrace_ptt_slot) };
  struct crowd crowd = {.fd = open(PITRACE_PTT_DEVICE_PATH, O_RDWR)};
  pthread_t thread[slots + 1];
  pthread_barrier_init(&crowd.all, NULL, slots + 1);
  void* page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, crowd.fd, 0);
  say("mapping-of-one-page", page != MAP_FAILED);
  for (int i = 0; i <= slots; i++) pthread_create(&thread[i], NULL, attach_in_crowd, &crowd);
  for (int i = 0; i <= slots; i++) pthread_join(thread[i], NULL);
  say("it-has-the-slots-of-one-page", crowd.attached == slots && crowd.full == 1);
  munmap(page, 4096);
  close(crowd.fd);
}

static void misuse_of_mappings(int fd) {
  const size_t bytes = PITRACE_PTT_AREA_BYTES;
  refused("mmap-to-write", area_map(fd, bytes, PROT_READ | PROT_WRITE, 0), EACCES);
  refused("mmap-to-execute", area_map(fd, bytes, PROT_READ | PROT_EXEC, 0), EACCES);
  refused("mmap-too-long", area_map(fd, bytes + 4096, PROT_READ, 0), EINVAL);
  refused("mmap-elsewhere", area_map(fd, bytes, PROT_READ, 4096), EINVAL);
  void* area = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
  refused("mprotect", mprotect(area, bytes, PROT_READ | PROT_WRITE), EACCES);
  refused("mremap", (long)mremap(area, bytes, 2 * bytes, MREMAP_MAYMOVE), EFAULT);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGBUS, SIG_DFL);
    _exit(*((volatile char*)mmap(NULL, bytes, PROT_READ, MAP_SHARED,
                                 open(PITRACE_PTT_DEVICE_PATH, O_RDWR), 0) +
            bytes - 1));
  }
  int status;
  waitpid(child, &status, 0);
  say("page-that-is-not-there", WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
  munmap(area, bytes);
}

// Checks which calls a child may make with its parent's handle.
static void misuse_by_child(int fd) {
  const pid_t child = fork();
  if (child == 0) {
    uint64_t offset;
    bool good = ioctl(fd, PITRACE_PTT_IOC_ATTACH, &offset) == -1 && errno == EPERM;
    good = good && ioctl(fd, PITRACE_PTT_IOC_DETACH) == -1 && errno == EPERM;
    good = good && area_map(fd, PITRACE_PTT_AREA_BYTES, PROT_READ, 0) == -1 && errno == EPERM;
    _exit(!good);
  }
  int status;
  waitpid(child, &status, 0);
  say("handle-of-the-parent", WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void misuse_of_slots(int fd) {
  uint64_t offset;
  struct pitrace_ptt_info info;
  refused("detach-without-slot", ioctl(fd, PITRACE_PTT_IOC_DETACH), EINVAL);
  slots_of_a_small_mapping();
  refused("attach-to-nowhere", ioctl(fd, PITRACE_PTT_IOC_ATTACH, NULL), EFAULT);
  refused("attach-twice", ioctl(fd, PITRACE_PTT_IOC_ATTACH, &offset), EALREADY);
  const int other = open(PITRACE_PTT_DEVICE_PATH, O_RDWR);
  refused("attach-to-two", ioctl(other, PITRACE_PTT_IOC_ATTACH, &offset), EALREADY);
  close(other);
  refused("detach", ioctl(fd, PITRACE_PTT_IOC_DETACH), 0);
  refused("read-to-nowhere", ioctl(fd, PITRACE_PTT_IOC_READ, NULL), EFAULT);
  refused("no-such-call", ioctl(fd, PITRACE_PTT_IOC_TERM), ENOTTY);
  refused("info", ioctl(fd, PITRACE_PTT_IOC_INFO, &info), 0);
  say("info-names-no-owner", info.owner_pid == 0);
}

static struct pitrace_ptt_init good_init(void) {
  return (struct pitrace_ptt_init){
      .metrics = 1, .flags = PITRACE_PTT_FORCE, .threads = 1024, .pids = 65536};
}

static void misuse_of_init(int fd) {
  struct pitrace_ptt_init init;
#define INIT(name, error, ...)                                    \
  do {                                                            \
    init = good_init();                                           \
    __VA_ARGS__;                                                  \
    refused(name, ioctl(fd, PITRACE_PTT_IOC_INIT, &init), error); \
  } while (0)
  INIT("no-metric", EINVAL, init.metrics = 0);
  INIT("nine-metrics", EINVAL, init.metrics = 9);
  INIT("unknown-flag", EINVAL, init.flags = 8);
  INIT("no-threads", EINVAL, init.threads = 0);
  INIT("too-many-threads", EINVAL, init.threads = 0xffffffff);
  INIT("no-pids", EINVAL, init.pids = 0);
  INIT("too-many-pids", EINVAL, init.pids = 0xffffffff);
  INIT("cycles-twice", EINVAL, init.metrics = 2);
  INIT("cycles-with-flags", EINVAL, init.metric[0].flags = 1);
  INIT("unknown-kind", EINVAL, init.metric[0].kind = 7);
  INIT("neither-user-nor-kernel", EINVAL, init.metric[0].kind = 1, init.metric[0].flags = 3);
  INIT("name-without-end", EINVAL, memset(init.metric[0].name, 'x', sizeof init.metric[0].name));
  INIT("no-such-event", ENOENT, init.metric[0].kind = 1, init.metric[0].type = 0x7ffffff0);
  INIT("busy", 0, (void)0);
  INIT("busy-without-force", EBUSY, init.flags = 0);
  refused("init-from-nowhere", ioctl(fd, PITRACE_PTT_IOC_INIT, NULL), EFAULT);
  uint32_t ints = 2;
  refused("ints-of-two", ioctl(fd, PITRACE_PTT_IOC_INTS, &ints), EINVAL);
}

static void misuse_of_dump(int fd) {
  struct pitrace_ptt_dump dump = {.threads = 0, .cpus = 0};
  refused("dump-with-small-arrays", ioctl(fd, PITRACE_PTT_IOC_DUMP, &dump), ENOSPC);
  say("dump-returns-the-needed-sizes", dump.threads > 0 && dump.cpus > 0);
  dump.threads = dump.cpus = 100000;
  dump.thread_rows = dump.cpu_rows = 8;
  refused("dump-to-nowhere", ioctl(fd, PITRACE_PTT_IOC_DUMP, &dump), EFAULT);
  dump.thread_rows = dump.cpu_rows = 0xffff888000000000;
  refused("dump-to-the-kernel", ioctl(fd, PITRACE_PTT_IOC_DUMP, &dump), EFAULT);
  refused("dump-from-nowhere", ioctl(fd, PITRACE_PTT_IOC_DUMP, NULL), EFAULT);
}

static int misuse(void) {
  const int control = control_open();
  const int fd = open(PITRACE_PTT_DEVICE_PATH, O_RDWR);
  uint64_t offset;
  struct pitrace_ptt_read read;
  refused("term-when-not-active", ioctl(control, PITRACE_PTT_IOC_TERM), EALREADY);
  refused("attach-when-not-active", ioctl(fd, PITRACE_PTT_IOC_ATTACH, &offset), ENXIO);
  refused("read-when-not-active", ioctl(fd, PITRACE_PTT_IOC_READ, &read), ENXIO);
  misuse_of_init(control);
  misuse_of_slots(fd);
  misuse_of_mappings(fd);
  misuse_by_child(fd);
  misuse_of_dump(control);
  return failures != 0;
}

// Takes slots until the user's limit, which is below the number of threads. Prints "slots N error
// TEXT".
static int exhaust(void) {
  unsigned int pages = 0;
  for (;; pages++) {
    const int fd = open(PITRACE_PTT_DEVICE_PATH, O_RDWR);
    uint64_t offset;
    if (fd < 0 || ioctl(fd, PITRACE_PTT_IOC_ATTACH, &offset) != 0) break;
    if (ioctl(fd, PITRACE_PTT_IOC_DETACH) != 0) break;
  }
  printf("pages %u error %s\n", pages, strerror(errno));
  return 0;
}

// Checks what the user nobody may do. Prints "check NAME ok|FAILED".
static int unprivileged(void) {
  refused("trace-device", open(PITRACE_DEVICE_PATH, O_RDWR), EACCES);
  struct slots slots = slots_open();
  const struct pitrace_ptt_slot* slot = slot_attach(&slots);
  uint64_t value = 0;
  say("own-thread", slot && PiPttReadCycles(slot, &value) && value > 0);
  refused("end-it-for-all", ioctl(slots.fd, PITRACE_PTT_IOC_TERM), ENOTTY);
  refused("see-all", ioctl(slots.fd, PITRACE_PTT_IOC_DUMP, &value), ENOTTY);
  return failures != 0;
}

// Random calls with random arguments, on both devices.
static int fuzz(unsigned int rounds) {
  const unsigned long requests[] = {
      PITRACE_PTT_IOC_INIT, PITRACE_PTT_IOC_TERM,   PITRACE_PTT_IOC_DUMP,   PITRACE_PTT_IOC_INTS,
      PITRACE_PTT_IOC_INFO, PITRACE_PTT_IOC_ATTACH, PITRACE_PTT_IOC_DETACH, PITRACE_PTT_IOC_READ};
  static uint8_t memory[8192];
  int fds[4] = {-1, -1, -1, -1};
  for (unsigned int i = 0; i < rounds; i++) {
    const int which = rand() % 4;
    if (fds[which] < 0 || rand() % 16 == 0) {
      close(fds[which]);
      fds[which] = open(which < 2 ? PITRACE_DEVICE_PATH : PITRACE_PTT_DEVICE_PATH, O_RDWR);
    }
    for (size_t b = 0; b < sizeof memory; b++) memory[b] = rand() % 4 ? 0 : (uint8_t)rand();
    struct pitrace_ptt_init sane = good_init();
    if (rand() % 2) memcpy(memory, &sane, sizeof sane);
    void* const where = rand() % 8 ? memory : (void*)(uintptr_t)rand();
    ioctl(fds[which], requests[rand() % 8], where);
    if (rand() % 8 == 0) mmap(NULL, PITRACE_PTT_AREA_BYTES, PROT_READ, MAP_SHARED, fds[which], 0);
  }
  return 0;
}

int misuse_main(int argc, char** argv) {
  const char* command = argc > 0 ? argv[0] : "";
  if (!strcmp(command, "misuse")) return misuse();
  if (!strcmp(command, "exhaust")) return exhaust();
  if (!strcmp(command, "unprivileged")) return unprivileged();
  if (!strcmp(command, "fuzz") && argc > 2) {
    srand((unsigned)atoi(argv[2]));
    return fuzz((unsigned)atoi(argv[1]));
  }
  return -1;
}
