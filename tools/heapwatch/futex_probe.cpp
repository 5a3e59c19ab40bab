// SPDX-License-Identifier: MIT
// The kernel's programs that report waits in futex(), at the tracepoints of the system call.
#include "futex_probe.h"

#include <linux/futex.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pi/files.h>

#include "kernel_bpf.h"
#include "record_program.h"

namespace heapwatch {
namespace {

// The tracepoints' data, behind eight bytes of the kernel and the number of the system call.
constexpr ptrdiff_t operation_place = 24, returned_place = 16;
constexpr uint32_t most_waits = 1 << 16;  // at once
constexpr int operations[] = {FUTEX_WAIT, FUTEX_WAIT_BITSET, FUTEX_LOCK_PI, FUTEX_WAIT_REQUEUE_PI,
                              FUTEX_LOCK_PI2};

// A process in the numbers of its own namespace, which programs can ask for.
struct Process {
  uint64_t device, inode;  // of the namespace
  int id;
};

pi::Result<Process> process_of(int pid) {
  struct stat status {};
  const auto text = pi::read_system_file(fmt::format("/proc/{}/status", pid), 4 << 20);
  if (!text || ::stat(fmt::format("/proc/{}/ns/pid", pid).c_str(), &status) != 0)
    return pi::Error{1, "its namespace is not known"};
  // One number for each namespace, its own as the last one.
  constexpr std::string_view name = "\nNSpid:";
  const size_t begin = text->find(name);
  const size_t end = begin == text->npos ? begin : text->find('\n', begin + name.size());
  if (end == text->npos) return pi::Error{1, "its number in its namespace is not known"};
  const std::string_view line = std::string_view(*text).substr(begin, end - begin);
  Process process{status.st_dev, status.st_ino, 0};
  const std::string_view last = line.substr(line.find_last_of("\t ") + 1);
  std::from_chars(last.data(), last.data() + last.size(), process.id);
  if (process.id <= 0) return pi::Error{1, "its number in its namespace is not known"};
  return process;
}

// Ends the program in other processes.
void end_unless_in(BpfProgram& program, const Process& process) {
  program.set_64(first, process.device);
  program.set_64(second, process.inode);
  program.copy(third, frame);
  program.plus(third, value_place);
  program.set(fourth, sizeof(bpf_pidns_info));
  program.call(BPF_FUNC_get_ns_current_pid_tgid);
  const auto other = program.jump_unless_equal(result, 0);
  program.load_half(first, frame, value_place + ptrdiff_t{offsetof(bpf_pidns_info, tgid)});
  const auto is_it = program.jump_if_equal(first, process.id);
  program.here(other);
  exit_program(program);
  program.here(is_it);
}

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

// Until the descriptor is closed. The program runs for all processes, whichever the event is for.
pi::Result<pi::UniqueFd> attach(const BpfProgram& program, const char* tracepoint, int pid) {
  const auto text = pi::read_system_file(
      fmt::format("/sys/kernel/tracing/events/syscalls/{}/id", tracepoint), 64);
  perf_event_attr attr{};
  if (!text ||
      std::from_chars(text->data(), text->data() + text->size(), attr.config).ec != std::errc())
    return pi::Error{1, fmt::format("the kernel has no tracepoint {}", tracepoint)};
  const auto loaded = load_program(program, BPF_PROG_TYPE_TRACEPOINT);
  if (!loaded) return loaded.error();
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_TRACEPOINT;
  attr.remove_on_exec = 1;
  pi::UniqueFd event(
      static_cast<int>(::syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!event || ::ioctl(event.get(), PERF_EVENT_IOC_SET_BPF, loaded->get()) != 0)
    return pi::Error{1, fmt::format("the kernel does not take the program for {}: {}", tracepoint,
                                    std::strerror(errno))};
  return event;
}

}  // namespace

pi::Result<FutexProbe> FutexProbe::open(int pid, int ring, int control, uint32_t probe) {
  const auto process = process_of(pid);
  if (!process) return process.error();
  const pi::UniqueFd waits =
      create_map(BPF_MAP_TYPE_HASH, sizeof(uint64_t), sizeof(uint64_t), most_waits, 0);
  if (!waits) return pi::Error{1, fmt::format("no memory: {}", std::strerror(errno))};
  auto leaves = attach(leave(ring, control, waits.get(), probe), "sys_exit_futex", pid);
  if (!leaves) return leaves.error();
  auto enters = attach(enter(*process, control, waits.get()), "sys_enter_futex", pid);
  if (!enters) return enters.error();
  FutexProbe probes;
  probes.enter_ = std::move(*enters);
  probes.leave_ = std::move(*leaves);
  return probes;
}

}  // namespace heapwatch
