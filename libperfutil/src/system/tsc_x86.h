// SPDX-License-Identifier: MIT
// The processor's own clock: x86's time-stamp counter.
#ifndef PI_PERFUTIL_TSC_X86_H
#define PI_PERFUTIL_TSC_X86_H

#include <x86intrin.h>

#include <cstdint>

namespace pi::perfutil {

inline uint64_t processor_cycles() {
  return __rdtsc();
}

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_TSC_X86_H
