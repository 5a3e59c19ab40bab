// SPDX-License-Identifier: MIT
// Starts the child process that compiles tables, passes it the files, and checks its answers.
#include "table_compiler.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <pi/descriptor_packet.h>
#include <pi/uninterrupted.h>

#include "table_child.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

namespace pi::swtrace {
namespace {

using Clock = std::chrono::steady_clock;

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

// The child's descriptors: the socket, no other.
Result<pid_t> spawn(const UniqueFd& socket, const char* program) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, socket.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
  std::string name = "swtrace", word = table_child_word;
  char* const words[] = {name.data(), word.data(), nullptr};
  char* const environment[] = {nullptr};
  pid_t child = 0;
  const int error = ::posix_spawn(&child, program, &actions, &attributes, words, environment);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return failed(fmt::format("no process ({})", std::strerror(error)));
  return child;
}

std::string reason_of(const siginfo_t& info) {
  if (info.si_code != CLD_EXITED)
    return fmt::format("its compiler was ended by signal {}", info.si_status);
  if (info.si_status == child_not_confined) return "its compiler could not be confined";
  return fmt::format("its compiler has ended with status {}", info.si_status);
}

}  // namespace

Status TableCompiler::start_child() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return failed(fmt::format("no socket ({})", std::strerror(errno)));
  channel_ = UniqueFd(ends[0]);
  const UniqueFd other(ends[1]);
  const auto child = spawn(other, limits_.program);
  if (!child) {
    channel_.reset();
    return child.error();
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
  if (process && !wait_for(process.get(), soon())) return "its compiler does not end";
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED) != 0) return "its compiler is gone";
  return reason_of(info);
}

Status TableCompiler::send_request(const UniqueFd& file, const UniqueFd& memory, uint64_t bytes) {
  const TableRequest request{++number_, bytes};
  if (send_with_descriptors(channel_.get(), std::as_bytes(std::span(&request, 1)),
                            std::array{file.get(), memory.get()}, MSG_NOSIGNAL | MSG_DONTWAIT))
    return {};
  return failed("its compiler takes no file");
}

// Descriptors that a packet may carry are not taken: the kernel closes them.
Result<uint64_t> TableCompiler::answer() {
  if (!wait_for(channel_.get(), Clock::now() + limits_.time))
    return failed("its compiler does not answer");
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

Result<SealedTable> TableCompiler::compile(const UniqueFd& file) {
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

Result<SealedTable> compile_by_child(const UniqueFd& file) {
  thread_local TableCompiler compiler;
  return compiler.compile(file);
}

}  // namespace pi::swtrace
