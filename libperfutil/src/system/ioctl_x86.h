// SPDX-License-Identifier: MIT
// An ioctl as one inline instruction, for callers in which every instruction counts.
#ifndef PI_PERFUTIL_IOCTL_X86_H
#define PI_PERFUTIL_IOCTL_X86_H

#if !defined(__x86_64__)
#error "pitrace supports x86-64 only"
#endif

#include <sys/syscall.h>

namespace pi::perfutil {

// 0 or a negative error number; errno does not change.
inline __attribute__((always_inline)) long inline_ioctl(int fd, unsigned long request,
                                                        const void* argument) {
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "0"(static_cast<long>(SYS_ioctl)), "D"(static_cast<long>(fd)), "S"(request),
                 "d"(argument)
               : "rcx", "r11", "memory");
  return result;
}

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_IOCTL_X86_H
