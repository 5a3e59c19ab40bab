// SPDX-License-Identifier: MIT
// Facts about the system: clock, CPUs, processor speed, distribution.
#ifndef PI_PERFUTIL_SYSTEM_FACTS_H
#define PI_PERFUTIL_SYSTEM_FACTS_H

#include <cstdint>
#include <string>

namespace pi::perfutil {

// The trace clock: CLOCK_MONOTONIC, nanoseconds.
uint64_t trace_clock();

// The kernel's present clock source, such as "tsc" or "hpet"; "unknown" when it cannot be read.
std::string clock_source();

// How many CPUs exist, online or not, and how many are online; at least 1.
uint32_t configured_cpus();
uint32_t online_cpu_count();

// Nominal speed; the present speed when the nominal one is unknown; 0 when both are unknown.
uint64_t processor_hz();

// Distribution, kernel release and machine in one line.
std::string platform_line();

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_SYSTEM_FACTS_H
