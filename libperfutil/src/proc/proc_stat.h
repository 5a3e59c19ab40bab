// SPDX-License-Identifier: MIT
// Parses /proc/stat: the time of each CPU so far.
#ifndef PI_PERFUTIL_PROC_STAT_H
#define PI_PERFUTIL_PROC_STAT_H

#include <cstdint>
#include <map>
#include <string_view>

namespace pi::perfutil {

// In ticks of sysconf(_SC_CLK_TCK), since boot.
struct CpuTimes {
  uint64_t idle = 0;       // including I/O wait
  uint64_t interrupt = 0;  // hard IRQs and softirqs
  uint64_t busy = 0;       // the rest, including time stolen by a hypervisor
};

// By number of the online CPUs. Invalid lines are left out.
std::map<uint32_t, CpuTimes> parse_proc_stat(std::string_view text);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PROC_STAT_H
