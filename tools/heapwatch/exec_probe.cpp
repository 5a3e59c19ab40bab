// SPDX-License-Identifier: MIT
// The kernel's program that ends the recording when the process becomes another program.
#include "exec_probe.h"

#include "record_program.h"
#include "tracepoint.h"

namespace heapwatch {

pi::Result<pi::UniqueFd> open_exec_probe(int pid, int control) {
  const auto process = process_of(pid);
  if (!process) return process.error();
  BpfProgram program;
  end_unless_in(program, *process);
  program.map_value(shared, control);
  program.set(first, 1);
  program.store(shared, offsetof(Control, ended), first);
  exit_program(program);
  return attach(program, "sched/sched_process_exec", pid, AtExec::stay);
}

}  // namespace heapwatch
