// SPDX-License-Identifier: MIT
// The kernel's programs that report how long the threads of a process wait in the system call
// futex(), in which a lock that is not free waits.
#ifndef HEAPWATCH_FUTEX_PROBE_H
#define HEAPWATCH_FUTEX_PROBE_H

#include <cstdint>

#include <pi/result.h>
#include <pi/unique_fd.h>

namespace heapwatch {

class FutexProbe {
 public:
  // ring, control: those of Probes. probe: the number of these calls; their value is the time in
  // nanoseconds.
  static pi::Result<FutexProbe> open(int pid, int ring, int control, uint32_t probe);

 private:
  // They end when their descriptors are closed.
  pi::UniqueFd enter_, leave_;
};

}  // namespace heapwatch

#endif  // HEAPWATCH_FUTEX_PROBE_H
