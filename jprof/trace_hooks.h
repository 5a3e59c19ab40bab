// SPDX-License-Identifier: MIT
// Stores hooks 19/41 and 19/42 in a running trace (pi/jit_log.h). No effect without one.
#ifndef PI_JPROF_TRACE_HOOKS_H
#define PI_JPROF_TRACE_HOOKS_H

#include <cstdint>
#include <string_view>

namespace pi::jprof {

// The interval id of the trace that hooks of this process go to, 0 if there is none.
uint32_t trace_interval();

void hook_code(uint32_t interval, uint32_t pid, uint64_t time, uint64_t address);
// name: as in log-jtnm.
void hook_thread(uint32_t interval, uint32_t pid, uint64_t time, uint32_t tid, bool starts,
                 std::string_view name);

}  // namespace pi::jprof

#endif  // PI_JPROF_TRACE_HOOKS_H
