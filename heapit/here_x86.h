// SPDX-License-Identifier: MIT
// Where a function of this library is called from: its registers.
#ifndef PI_HEAPIT_HERE_X86_H
#define PI_HEAPIT_HERE_X86_H

#include <cstdint>

namespace pi::heapit {

// The registers with which the stack of the function that calls here() is unwound.
struct Here {
  uint64_t rbx, rbp, rsp, r12, r13, r14, r15, rip;
};
[[gnu::always_inline]] inline Here here() {
  Here here;
  asm volatile(
      "mov %%rbx, %0\n\tmov %%rbp, %1\n\tmov %%rsp, %2\n\tmov %%r12, %3\n\t"
      "mov %%r13, %4\n\tmov %%r14, %5\n\tmov %%r15, %6"
      : "=m"(here.rbx), "=m"(here.rbp), "=m"(here.rsp), "=m"(here.r12), "=m"(here.r13),
        "=m"(here.r14), "=m"(here.r15));
  asm volatile("lea 0(%%rip), %0" : "=r"(here.rip));
  return here;
}

}  // namespace pi::heapit

#endif  // PI_HEAPIT_HERE_X86_H
