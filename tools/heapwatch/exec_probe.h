// SPDX-License-Identifier: MIT
// The kernel's program that ends the recording when the process becomes another program.
#ifndef HEAPWATCH_EXEC_PROBE_H
#define HEAPWATCH_EXEC_PROBE_H

#include <pi/result.h>
#include <pi/unique_fd.h>

namespace heapwatch {

// control: that of Probes, whose `ended` is set in exec(), before the other program's first
// instruction. Until the descriptor is closed.
pi::Result<pi::UniqueFd> open_exec_probe(int pid, int control);

}  // namespace heapwatch

#endif  // HEAPWATCH_EXEC_PROBE_H
