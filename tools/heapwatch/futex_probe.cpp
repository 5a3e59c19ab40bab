// SPDX-License-Identifier: MIT
// The kernel's programs that report waits in futex(), at the tracepoints of the system call.
#include "futex_probe.h"

#include <linux/futex.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernel_bpf.h"
#include "record_program.h"
#include "tracepoint.h"

namespace heapwatch {
namespace {

// The tracepoints' data, behind eight bytes of the kernel and the number of the system call.
constexpr ptrdiff_t operation_place = 24, returned_place = 16;
constexpr uint32_t most_waits = 1 << 16;  // at once
constexpr int operations[] = {FUTEX_WAIT, FUTEX_WAIT_BITSET, FUTEX_LOCK_PI, FUTEX_WAIT_REQUEUE_PI,
                              FUTEX_LOCK_PI2};

// When the thread begins to wait.
BpfProgram enter(const Process& process, int control, int waits) {
  BpfProgram program;
  program.load(kept, first, operation_place);
  end_unless_on(program, control);
  program.mask(kept, FUTEX_CMD_MASK);
  std::vector<BpfProgram::Jump> is_wait;
  for (const int operation : operations) is_wait.push_back(program.jump_if_equal(kept, operation));
  exit_program(program);
  for (const auto jump : is_wait) program.here(jump);
  end_unless_in(program, process);
  program.call(BPF_FUNC_ktime_get_ns);
  program.store(frame, value_place, result);
  put_key(program);
  program.copy(third, frame);
  program.plus(third, value_place);
  program.map(first, waits);
  program.set(fourth, BPF_ANY);
  program.call(BPF_FUNC_map_update_elem);
  const auto is_stored = program.jump_if_equal(result, 0);
  program.set(first, 1);
  program.add_atomically(shared, offsetof(Control, lost), first);
  program.here(is_stored);
  exit_program(program);
  return program;
}

// When it goes on. A lock that became free before the thread slept is no wait.
BpfProgram leave(int ring, int control, int waits, uint32_t probe) {
  BpfProgram program;
  program.load(kept, first, returned_place);
  end_unless_on(program, control);
  put_key(program);
  program.map(first, waits);
  program.call(BPF_FUNC_map_lookup_elem);
  const auto is_waiting = program.jump_unless_equal(result, 0);
  exit_program(program);
  program.here(is_waiting);
  program.load(first, result, 0);
  program.store(frame, value_place, first);
  program.copy(second, frame);
  program.plus(second, key_place);
  program.map(first, waits);
  program.call(BPF_FUNC_map_delete_elem);
  const auto has_slept = program.jump_unless_equal(kept, -EAGAIN);
  exit_program(program);
  program.here(has_slept);
  program.call(BPF_FUNC_ktime_get_ns);
  program.load(first, frame, value_place);
  program.minus(result, first);
  program.store(frame, more_place, result);
  program.call(BPF_FUNC_get_current_task_btf);
  program.copy(first, result);
  program.call(BPF_FUNC_task_pt_regs);
  program.copy(context, result);
  begin_record(program, ring, max_pages);
  fill_record(program, probe);
  program.load(first, frame, more_place);
  program.store(record, offsetof(Call, value), first);
  copy_stack(program);
  submit(program, ring);
  exit_program(program);
  return program;
}

}  // namespace

pi::Result<FutexProbe> FutexProbe::open(int pid, int ring, int control, uint32_t probe) {
  const auto process = process_of(pid);
  if (!process) return process.error();
  const pi::UniqueFd waits =
      create_map(BPF_MAP_TYPE_HASH, sizeof(uint64_t), sizeof(uint64_t), most_waits, 0);
  if (!waits) return pi::Error{1, fmt::format("no memory: {}", std::strerror(errno))};
  auto leaves =
      attach(leave(ring, control, waits.get(), probe), "syscalls/sys_exit_futex", pid, AtExec::end);
  if (!leaves) return leaves.error();
  auto enters =
      attach(enter(*process, control, waits.get()), "syscalls/sys_enter_futex", pid, AtExec::end);
  if (!enters) return enters.error();
  FutexProbe probes;
  probes.enter_ = std::move(*enters);
  probes.leave_ = std::move(*leaves);
  return probes;
}

}  // namespace heapwatch
