// SPDX-License-Identifier: MIT
// Programs at the kernel's tracepoints, for one process.
#ifndef HEAPWATCH_TRACEPOINT_H
#define HEAPWATCH_TRACEPOINT_H

#include <cstdint>

#include <pi/result.h>
#include <pi/unique_fd.h>

#include "bpf_program.h"

namespace heapwatch {

// A process in the numbers of its own namespace, which programs can ask for.
struct Process {
  uint64_t device, inode;  // of the namespace
  int id;
};

pi::Result<Process> process_of(int pid);

// Ends the program in other processes.
void end_unless_in(BpfProgram& program, const Process& process);

enum class AtExec : uint8_t { end, stay };

// tracepoint: its group and name, as "sched/sched_process_exec". Until the descriptor is closed the
// program runs for all processes, whichever the event is for.
pi::Result<pi::UniqueFd> attach(const BpfProgram& program, const char* tracepoint, int pid,
                                AtExec at_exec);

}  // namespace heapwatch

#endif  // HEAPWATCH_TRACEPOINT_H
