// SPDX-License-Identifier: MIT
// Restricts a thread to the first of the processors that it may use.
#ifndef TESTS_UNIT_SWTRACE_STACKS_FIRST_PROCESSOR_H
#define TESTS_UNIT_SWTRACE_STACKS_FIRST_PROCESSOR_H

#include <sched.h>

namespace pi::swtrace {

// It is the same one for all processes with the same permission.
inline bool use_first_processor() {
  cpu_set_t all, first;
  if (::sched_getaffinity(0, sizeof all, &all) != 0) return false;
  int cpu = 0;
  while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &all)) ++cpu;
  CPU_ZERO(&first);
  CPU_SET(cpu, &first);
  return ::sched_setaffinity(0, sizeof first, &first) == 0;
}

}  // namespace pi::swtrace

#endif  // TESTS_UNIT_SWTRACE_STACKS_FIRST_PROCESSOR_H
