// SPDX-License-Identifier: MIT
// Finds out what perf_event_open permits: the system or one process, with or without the kernel.
#ifndef PI_PERFUTIL_PERF_SCOPE_H
#define PI_PERFUTIL_PERF_SCOPE_H

#include <string>
#include <vector>

#include <pi/result.h>

#include "source/collector.h"
#include "source/config.h"

namespace pi::perfutil {

struct PerfScope {
  bool system = false;
  int pid = 0;  // where the scope is one process
  bool kernel = false;
};

// Opens events to find out. PU_ERROR_ACCESS_DENIED with the remedies, PU_ERROR_NOT_SUPPORTED,
// PU_ERROR_INVALID_PARAMETER when the process does not exist.
Result<PerfScope> decide_perf_scope(const TraceConfig& config);

// PU_ERROR_NOT_SUPPORTED for a major whose records perf cannot make. All majors together may be
// enabled; then perf_blind_spots() lists what is missing.
Status refuse_unseen(uint32_t major);

// One sentence for each kind of information that was requested and that perf lacks in this scope.
std::vector<std::string> perf_blind_spots(const PerfScope& scope, const CollectorStatus& status);

// "1 process", "2 processes"
std::string count_of_processes(uint32_t count);

// A sentence on processes whose list of mapped files, /proc/PID/maps, the system withholds.
std::string unreadable_processes_note(uint32_t count);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PERF_SCOPE_H
