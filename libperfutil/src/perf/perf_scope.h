// SPDX-License-Identifier: MIT
// Finds out what perf_event_open lets us see: the system or one process, the kernel or not.
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

// By trying. PU_ERROR_ACCESS_DENIED with the remedies, PU_ERROR_NOT_SUPPORTED,
// PU_ERROR_INVALID_PARAMETER when the process does not exist.
Result<PerfScope> decide_perf_scope(const TraceConfig& config);

// An error for a major whose records perf cannot make: PU_ERROR_NOT_SUPPORTED. All majors together
// may be enabled, and perf_blind_spots() then tells what is missing.
Status refuse_unseen(uint32_t major);

// One sentence for each thing that perf in this scope misses of what is asked for.
std::vector<std::string> perf_blind_spots(const PerfScope& scope, const CollectorStatus& status);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PERF_SCOPE_H
