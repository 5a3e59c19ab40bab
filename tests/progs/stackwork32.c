// SPDX-License-Identifier: MIT
// A 32-bit program without libraries that spins at a known call depth and exits.
#include "frames.h"

#define OWN_PAGE __attribute__((noipa, used, aligned(4096)))

OWN_PAGE void spin(void) {
  HAS_FRAME();
  unsigned int rounds = 200000000;
  __asm__ volatile("1: dec %0; jnz 1b" : "+r"(rounds));
}

OWN_PAGE void recurse(unsigned int levels) {
  if (levels > 1)
    recurse(levels - 1);
  else
    spin();
  NOT_LAST();
}

OWN_PAGE void root(void) {
  recurse(3);
  __asm__ volatile("int $0x80" : : "a"(1), "b"(0));
}

__asm__(".globl _start\n_start:\txorl %ebp, %ebp\n\tcall root\n");
