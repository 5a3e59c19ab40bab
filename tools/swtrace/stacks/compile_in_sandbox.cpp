// SPDX-License-Identifier: MIT
// Starts the child process that compiles the table of one file, and waits for it.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <pi/uninterrupted.h>

#include "table_child.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

namespace pi::swtrace {
namespace {

Error failed(const std::string& reason) {
  return {static_cast<int>(NoTable::failed), reason};
}

// The child's descriptors: input, output, no other.
Result<pid_t> start(const UniqueFd& file, const UniqueFd& memory, const char* program) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, file.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, memory.get(), STDOUT_FILENO);
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

// Waits, and kills the child when the time is over. Its status as of waitid(), or nothing.
bool wait_for(pid_t child, std::chrono::milliseconds time, siginfo_t& info) {
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  pollfd wait{process.get(), POLLIN, 0};
  const auto end = std::chrono::steady_clock::now() + time;
  for (bool killed = false; process;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    const int wait_ms = killed ? 1000 : static_cast<int>(std::max<int64_t>(left.count(), 0));
    const int ready = uninterrupted([&] { return ::poll(&wait, 1, wait_ms); });
    if (ready > 0) return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED) == 0;
    // A child that waits for a file system that does not answer stays until it does.
    if (killed) return false;
    ::kill(child, SIGKILL);
    killed = true;
  }
  ::kill(child, SIGKILL);
  return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED) == 0;
}

std::string reason_of(const siginfo_t& info) {
  if (info.si_code != CLD_EXITED)
    return fmt::format("its compiler was ended by signal {}", info.si_status);
  if (info.si_status == child_not_confined) return "its compiler could not be confined";
  return fmt::format("its compiler failed with status {}", info.si_status);
}

}  // namespace

Result<SealedTable> compile_in_sandbox(const UniqueFd& file, const ChildLimits& limits) {
  const UniqueFd memory(::memfd_create("unwind-table", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory) return failed("no memory for its table");
  const auto child = start(file, memory, limits.program);
  if (!child) return child.error();
  siginfo_t info{};
  if (!wait_for(*child, limits.time, info)) return failed("its compiler does not end");
  if (info.si_code == CLD_EXITED && info.si_status == child_no_table)
    return Error{static_cast<int>(NoTable::has_none), "it has no unwind information"};
  if (info.si_code != CLD_EXITED || info.si_status != child_good) return failed(reason_of(info));
  auto table = SealedTable::of(memory);
  if (!table) return failed("its table is damaged");
  return std::move(*table);
}

}  // namespace pi::swtrace
