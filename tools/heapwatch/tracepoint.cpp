// SPDX-License-Identifier: MIT
// Programs at the kernel's tracepoints, for one process.
#include "tracepoint.h"

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

#include <fmt/format.h>
#include <pi/files.h>

#include "kernel_bpf.h"
#include "record_program.h"

namespace heapwatch {

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

pi::Result<pi::UniqueFd> attach(const BpfProgram& program, const char* tracepoint, int pid,
                                AtExec at_exec) {
  const auto text =
      pi::read_system_file(fmt::format("/sys/kernel/tracing/events/{}/id", tracepoint), 64);
  perf_event_attr attr{};
  if (!text ||
      std::from_chars(text->data(), text->data() + text->size(), attr.config).ec != std::errc())
    return pi::Error{1, fmt::format("the kernel has no tracepoint {}", tracepoint)};
  const auto loaded = load_program(program, BPF_PROG_TYPE_TRACEPOINT);
  if (!loaded) return loaded.error();
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_TRACEPOINT;
  attr.remove_on_exec = at_exec == AtExec::end;
  pi::UniqueFd event(
      static_cast<int>(::syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!event || ::ioctl(event.get(), PERF_EVENT_IOC_SET_BPF, loaded->get()) != 0)
    return pi::Error{1, fmt::format("the kernel does not take the program for {}: {}", tracepoint,
                                    std::strerror(errno))};
  return event;
}

}  // namespace heapwatch
