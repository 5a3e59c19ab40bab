// SPDX-License-Identifier: MIT
// What the system tells about itself: clock, processor speed, CPUs, distribution.
#ifndef PI_PERFUTIL_SYSTEM_FACTS_H
#define PI_PERFUTIL_SYSTEM_FACTS_H

#include <cstdint>
#include <string>

namespace pi::perfutil {

// The trace clock: CLOCK_MONOTONIC, nanoseconds.
uint64_t trace_clock();

// What the kernel keeps that clock by at this moment, as "tsc" or "hpet"; "unknown" where it does
// not tell.
std::string clock_source();

// CPUs that exist, whether online or not, and those that are online; at least 1.
uint32_t configured_cpus();
uint32_t online_cpu_count();

// Nominal speed; the speed of the moment where no nominal one is told; 0 when neither is.
uint64_t processor_hz();

// Distribution, kernel release and machine in one line.
std::string platform_line();

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_SYSTEM_FACTS_H
