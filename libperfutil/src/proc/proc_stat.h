// SPDX-License-Identifier: MIT
// The one place that parses /proc/stat: what each CPU has done so far.
#ifndef PI_PERFUTIL_PROC_STAT_H
#define PI_PERFUTIL_PROC_STAT_H

#include <cstdint>
#include <map>
#include <string_view>

namespace pi::perfutil {

// In ticks of sysconf(_SC_CLK_TCK), since the machine was booted.
struct CpuTimes {
  uint64_t idle = 0;       // waiting for a disk included
  uint64_t interrupt = 0;  // hard and soft ones
  uint64_t busy = 0;       // all the rest, what a hypervisor took included
};

// By number of the CPUs that are online. Lines that make no sense are left out.
std::map<uint32_t, CpuTimes> parse_proc_stat(std::string_view text);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PROC_STAT_H
