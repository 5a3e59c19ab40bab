// SPDX-License-Identifier: MIT
// Starts the child process that compiles tables, passes it the files, and checks its answers.
#include "table_compiler.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <pi/descriptor_packet.h>
#include <pi/files.h>
#include <pi/uninterrupted.h>

#include "child_starter.h"
#include "table_child.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

namespace pi::swtrace {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

Error failed(const std::string& reason) {
  return {static_cast<int>(NoTable::failed), reason};
}

// Waits until a descriptor is readable, up to the end of that time.
bool wait_for(int fd, Clock::time_point end) {
  pollfd wait{fd, POLLIN, 0};
  return uninterrupted([&] {
           const auto left =
               std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
           return ::poll(&wait, 1, static_cast<int>(std::max<int64_t>(left, 0)));
         }) > 0;
}

// The processor time that a process has used; zero once it is gone.
nanoseconds processor_time(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

// It runs, or waits for a processor.
bool is_running(pid_t process) {
  const auto stat = read_system_file(fmt::format("/proc/{}/stat", process), 4096);
  if (!stat) return false;
  const size_t name_end = stat->rfind(") ");
  return name_end != std::string::npos && stat->compare(name_end + 2, 1, "R") == 0;
}

nanoseconds duration_of(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

std::string reason_of(const siginfo_t& info) {
  if (info.si_code != CLD_EXITED)
    return fmt::format("its compiler was ended by signal {}", info.si_status);
  if (info.si_status == child_not_confined) return "its compiler could not be confined";
  return fmt::format("its compiler has ended with status {}", info.si_status);
}

}  // namespace

Status TableCompiler::start_child() {
  std::erase_if(hanging_, [](pid_t child) { return ::waitpid(child, nullptr, WNOHANG) != 0; });
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return failed(fmt::format("no socket ({})", std::strerror(errno)));
  channel_ = UniqueFd(ends[0]);
  const UniqueFd other(ends[1]);
  const auto child = swtrace::start_child(limits_.program, table_child_word, other);
  if (!child) {
    channel_.reset();
    return failed(fmt::format("no process ({})", child.error().message));
  }
  child_ = *child;
  files_ = 0;
  ++children_;
  return {};
}

// A child that has closed its end is about to end by itself, and has its own reason.
std::string TableCompiler::end_child() {
  channel_.reset();
  if (child_ == 0) return {};
  const pid_t child = std::exchange(child_, 0);
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  const auto soon = [] { return Clock::now() + std::chrono::seconds(1); };
  if (!process || !wait_for(process.get(), Clock::now() + std::chrono::milliseconds(50)))
    ::kill(child, SIGKILL);
  // One that waits for a file system that does not answer stays until it does.
  if (process && !wait_for(process.get(), soon())) {
    used_ += processor_time(child);
    hanging_.push_back(child);
    return "its compiler does not end";
  }
  siginfo_t info{};
  rusage usage{};
  if (::syscall(SYS_waitid, P_PID, child, &info, WEXITED, &usage) != 0)
    return "its compiler is gone";
  used_ += duration_of(usage.ru_utime) + duration_of(usage.ru_stime);
  return reason_of(info);
}

Status TableCompiler::send_request(const UniqueFd& file, const UniqueFd& memory, uint64_t bytes) {
  const TableRequest request{++number_, bytes};
  if (send_with_descriptors(channel_.get(), std::as_bytes(std::span(&request, 1)),
                            std::array{file.get(), memory.get()}, MSG_NOSIGNAL | MSG_DONTWAIT))
    return {};
  return failed("its compiler takes no file");
}

// The child may use the time of a file, and may sleep for as long. While it waits for a processor,
// no time passes for it: other programs may keep it from running for long.
bool TableCompiler::wait_for_answer() {
  const nanoseconds step = limits_.asleep / 10, most = used() + limits_.time;
  nanoseconds asleep{}, last = used();
  for (auto begin = Clock::now(); !wait_for(channel_.get(), begin + step);) {
    const auto now = Clock::now();
    const nanoseconds total = used();
    if (total != last || is_running(child_)) {
      asleep = {};
    } else {
      asleep += now - begin;
      used_ += now - begin;
    }
    last = used();
    begin = now;
    if (asleep >= limits_.asleep || last >= most) return false;
  }
  return true;
}

nanoseconds TableCompiler::used() const {
  return used_ + (child_ == 0 ? nanoseconds{} : processor_time(child_));
}

// Descriptors that a packet may carry are not taken: the kernel closes them.
Result<uint64_t> TableCompiler::answer() {
  if (!wait_for_answer()) return failed("its compiler does not answer");
  TableAnswer answer{};
  const ssize_t got =
      ::recv(channel_.get(), &answer, sizeof answer, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);
  if (got <= 0) return failed("");
  const auto status = static_cast<uint64_t>(answer.status);
  if (got != sizeof answer || answer.number != number_ ||
      status < static_cast<uint64_t>(TableStatus::good) ||
      status > static_cast<uint64_t>(TableStatus::failed))
    return failed("its compiler answers nonsense");
  return status;
}

// An error without code NoTable::has_none: the child is ended unless it has answered.
Result<SealedTable> TableCompiler::ask(const UniqueFd& file, uint64_t bytes) {
  const UniqueFd memory(::memfd_create("unwind-table", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory) return failed("no memory for its table");
  if (child_ == 0)
    if (const auto started = start_child(); !started) return started.error();
  ++files_;
  const auto sent = send_request(file, memory, bytes);
  const auto status = sent ? answer() : Result<uint64_t>(sent.error());
  if (!status) {
    const std::string end = end_child();
    return failed(status.error().message.empty() ? end : status.error().message);
  }
  if (static_cast<TableStatus>(*status) == TableStatus::no_table)
    return Error{static_cast<int>(NoTable::has_none), "it has no unwind information"};
  if (static_cast<TableStatus>(*status) == TableStatus::failed)
    return failed("its compiler has failed");
  auto table = SealedTable::of(memory);
  if (table) return std::move(*table);
  (void)end_child();
  return failed("its table is damaged");
}

Compiled TableCompiler::compile(const UniqueFd& file) {
  const nanoseconds before = used();
  auto table = compile_file(file);
  return {std::move(table), used() - before};
}

Result<SealedTable> TableCompiler::compile_file(const UniqueFd& file) {
  // What the kernel knows: the file system is not asked, which might not answer.
  struct statx facts {};
  if (::statx(file.get(), "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &facts) != 0 ||
      !S_ISREG(facts.stx_mode))
    return failed("it is no file");
  const uint64_t bytes = facts.stx_size;
  if (bytes == 0 || bytes > INT64_MAX)
    return Error{static_cast<int>(NoTable::has_none), "it has no unwind information"};
  if (files_ >= limits_.files || facts.stx_uid != owner_) (void)end_child();
  owner_ = facts.stx_uid;
  const bool is_new = child_ == 0;
  auto table = ask(file, bytes);
  // What has ended the child may have been an earlier file.
  if (!table && child_ == 0 && !is_new) return ask(file, bytes);
  return table;
}

Compiled compile_by_child(const UniqueFd& file) {
  thread_local TableCompiler compiler;
  return compiler.compile(file);
}

}  // namespace pi::swtrace
