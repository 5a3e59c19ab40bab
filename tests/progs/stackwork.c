// SPDX-License-Identifier: MIT
// Work with known call stacks, page faults and context switches. Each function of interest is on
// its own page, so that an address identifies it, and is printed as "function NAME ADDRESS".
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "frames.h"

#define OWN_PAGE __attribute__((noipa, aligned(4096)))

#define PAGE ((size_t)4096)

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

OWN_PAGE void spin(void) {
  HAS_FRAME();
  unsigned long rounds = 2000000;
  __asm__ volatile("1: dec %0; jnz 1b" : "+r"(rounds));
}

static unsigned int deep_levels;

OWN_PAGE void recurse(unsigned int levels) {
  if (levels > 1)
    recurse(levels - 1);
  else
    spin();
  NOT_LAST();
}

OWN_PAGE void left(void) {
  recurse(5);
  NOT_LAST();
}

OWN_PAGE void right(void) {
  spin();
  NOT_LAST();
}

OWN_PAGE void root(void) {
  left();
  right();
  NOT_LAST();
}

OWN_PAGE void deep(void) {
  recurse(deep_levels);
  NOT_LAST();
}

static int zero_fd;
static char zeros[1 << 20];

// The system call is inline: the C library keeps no frame pointers.
OWN_PAGE void reader(void) {
  HAS_FRAME();
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(SYS_read), "D"(zero_fd), "S"(zeros), "d"(sizeof zeros)
                   : "rcx", "r11", "memory");
  NOT_LAST();
}

// Enters the kernel as often as possible.
OWN_PAGE void enters(void) {
  HAS_FRAME();
  for (int i = 0; i < 1000; i++) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_getppid) : "rcx", "r11", "memory");
  }
  NOT_LAST();
}

OWN_PAGE void napper(void) {
  const struct timespec time = {.tv_nsec = 1000000};
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(SYS_nanosleep), "D"(&time), "S"(NULL)
                   : "rcx", "r11", "memory");
  NOT_LAST();
}

// Calls function as the outermost one: its caller's frame pointer is 0.
OWN_PAGE void entry(void (*function)(void)) {
  __asm__ volatile(
      "push %%rbp; mov %%rsp, %%r12; and $-16, %%rsp; xor %%ebp, %%ebp\n\t"
      "call *%0\n\t"
      "mov %%r12, %%rsp; pop %%rbp"
      : "+a"(function)
      :
      : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "memory", "cc");
}

static void repeat(void (*function)(void), double seconds) {
  const double end = now() + seconds;
  while (now() < end) entry(function);
}

// Spins on another stack, with an invalid frame pointer.
OWN_PAGE void garbage(uintptr_t frame_pointer, char* stack) {
  unsigned long rounds = 2000000;
  __asm__ volatile(
      "push %%rbp; mov %%rsp, %%r12; mov %2, %%rsp; mov %1, %%rbp\n\t"
      "1: dec %0; jnz 1b\n\t"
      "mov %%r12, %%rsp; pop %%rbp"
      : "+a"(rounds)
      : "c"(frame_pointer), "d"(stack)
      : "r12", "memory", "cc");
}

static void all_garbage(double seconds) {
  char* area = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED || mprotect(area + 2 * PAGE, PAGE, PROT_NONE) != 0) exit(1);
  char* stack = area + PAGE;
  uintptr_t* circle = (uintptr_t*)(area + PAGE + 64);
  circle[0] = (uintptr_t)circle;
  circle[1] = 1;
  const uintptr_t pointers[] = {
      8,                               // below the stack
      (uintptr_t)stack + 3,            // not aligned
      (uintptr_t)area + 2 * PAGE,      // not readable
      (uintptr_t)area + 2 * PAGE - 8,  // half of it is readable
      (uintptr_t)circle,               // its own caller
      0x00007ffffffffff0u - PAGE,      // the end of user space
      0x00007ffffffffff8u,             // beyond it
      0x0000900000000000u,             // non-canonical
      0xffffffff81000000u,             // a kernel address
      ~(uintptr_t)7,
  };
  const double end = now() + seconds;
  while (now() < end)
    for (unsigned int i = 0; i < sizeof pointers / sizeof *pointers; i++)
      garbage(pointers[i], stack);
}

// As a program without frame pointers, which has any value in the register: it leads to words that
// are not for others.
static void all_words(double seconds) {
  uintptr_t frames[8];
  for (unsigned int i = 0; i < 8; i += 2) {
    frames[i] = i < 6 ? (uintptr_t)(frames + i + 2) : 0;
    frames[i + 1] = 0x5ec2e7c0de000000u + i;
  }
  const double end = now() + seconds;
  while (now() < end) garbage((uintptr_t)frames, (char*)frames);
}

OWN_PAGE void touch(volatile char* pages, size_t count) {
  HAS_FRAME();
  for (size_t i = 0; i < count; i++) pages[i * PAGE] = 1;
}

static void faults(size_t count) {
  char* pages =
      mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) exit(1);
  madvise(pages, count * PAGE, MADV_NOHUGEPAGE);  // fails if the kernel has no huge pages
  touch(pages, count);
}

static void switches(unsigned int count) {
  struct rusage usage;
  for (unsigned int i = 0; i < count; i++) usleep(1000);
  getrusage(RUSAGE_SELF, &usage);
  printf("switched %ld\n", usage.ru_nvcsw + usage.ru_nivcsw);
}

static void print_function(const char* name, uintptr_t address) {
  printf("function %s %016lx\n", name, (unsigned long)address);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const double seconds = argc > 2 ? atof(argv[2]) : 1;
  const unsigned int number = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 0) : 0;

  print_function("spin", (uintptr_t)spin);
  print_function("recurse", (uintptr_t)recurse);
  print_function("left", (uintptr_t)left);
  print_function("right", (uintptr_t)right);
  print_function("root", (uintptr_t)root);
  print_function("deep", (uintptr_t)deep);
  print_function("reader", (uintptr_t)reader);
  print_function("enters", (uintptr_t)enters);
  print_function("napper", (uintptr_t)napper);
  print_function("entry", (uintptr_t)entry);
  print_function("garbage", (uintptr_t)garbage);
  print_function("touch", (uintptr_t)touch);
  fflush(stdout);
  if (!strcmp(what, "tree")) {
    repeat(root, seconds);
  } else if (!strcmp(what, "deep")) {
    deep_levels = argc > 3 ? (unsigned int)strtoul(argv[3], NULL, 0) : 200;
    repeat(deep, seconds);
  } else if (!strcmp(what, "read")) {
    zero_fd = open("/dev/zero", O_RDONLY);
    repeat(reader, seconds);
  } else if (!strcmp(what, "enter")) {
    repeat(enters, seconds);
  } else if (!strcmp(what, "nap")) {
    repeat(napper, seconds);
  } else if (!strcmp(what, "garbage")) {
    all_garbage(seconds);
  } else if (!strcmp(what, "words")) {
    all_words(seconds);
  } else if (!strcmp(what, "faults")) {
    faults(number);
  } else if (!strcmp(what, "switches")) {
    switches(number);
  } else {
    fprintf(stderr,
            "Usage: stackwork tree|read|enter|nap|garbage|words SECONDS | deep SECONDS LEVELS | "
            "faults N "
            "| switches N\n");
    return 2;
  }
  return 0;
}
