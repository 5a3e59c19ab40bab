// SPDX-License-Identifier: MIT
// Whether the process that has a traced process's id now is that process.
#ifndef A2N_RUNNING_PROCESS_H
#define A2N_RUNNING_PROCESS_H

#include <cstdint>

namespace a2n {

// False if no process has the id now, or if it started after the process that had the id at that
// time of the trace; such a process can belong to another user. time: nanoseconds of
// CLOCK_MONOTONIC, as in traces; 0: not known, so that every process with the id is accepted.
bool runs_since(uint32_t pid, uint64_t time);

}  // namespace a2n

#endif  // A2N_RUNNING_PROCESS_H
