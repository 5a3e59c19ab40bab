// SPDX-License-Identifier: MIT
// Steps the threads of processes by ptrace and records their flows: runs in the tracing thread.
#include "ptrace_follower.h"

#include <dirent.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "perfutil.h"
#include "system/text.h"

namespace pi::perfutil {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto pause = std::chrono::microseconds(100);
constexpr std::chrono::seconds detach_limit(2);

// Waits only for threads that this thread traces, not for other children of the program. And never
// without WNOHANG: a thread that waits in vfork() or in a page fault may not stop for hours.
constexpr int ours = __WALL | __WNOTHREAD | WNOHANG;

// How PTRACE_O_TRACESYSGOOD marks the stops before and after a system call.
constexpr int call_stop = SIGTRAP | 0x80;

pid_t as_pid(uint32_t number) {
  return static_cast<pid_t>(number);
}

std::vector<uint32_t> threads_of(uint32_t pid) {
  std::vector<uint32_t> all;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(
      ::opendir(fmt::format("/proc/{}/task", pid).c_str()), ::closedir);
  while (const dirent* entry = directory ? ::readdir(directory.get()) : nullptr) {
    uint32_t tid = 0;
    const std::string_view name = entry->d_name;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), tid);
    if (error == std::errc() && end == name.data() + name.size()) all.push_back(tid);
  }
  return all;
}

// The value of a line of /proc/TID/status, the first of which is Name; empty when the thread has
// ended.
std::string status_value(uint32_t tid, std::string_view name) {
  const auto text = read_text(fmt::format("/proc/{}/status", tid)).value_or("");
  const std::string key = fmt::format("\n{}:\t", name);
  const size_t place = text.find(key);
  if (place == std::string::npos) return "";
  const size_t begin = place + key.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

// The process that a thread belongs to; 0 when the thread has ended.
uint32_t process_of(uint32_t tid) {
  return static_cast<uint32_t>(parse_number(status_value(tid, "Tgid")).value_or(0));
}

// ptrace does not report the end of a main thread before all other threads have ended.
bool has_ended(uint32_t tid) {
  const std::string state = status_value(tid, "State");
  return state.empty() || state[0] == 'Z' || state[0] == 'X';
}

// Whether a stopped thread has just returned from a system call, not entered one.
bool is_call_exit(pid_t tid) {
  __ptrace_syscall_info info{};
  return ::ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof info, &info) > 0 &&
         info.op == PTRACE_SYSCALL_INFO_EXIT;
}

Error refused(uint32_t pid, int error) {
  if (error == ESRCH)
    return {PU_ERROR_INVALID_PARAMETER, fmt::format("There is no process {}.", pid)};
  const std::string scope = read_line("/proc/sys/kernel/yama/ptrace_scope");
  return {PU_ERROR_ACCESS_DENIED,
          fmt::format(
              "Cannot trace process {} by ptrace ({}): it belongs to another user, a debugger "
              "is attached to it, or it is this program itself{}. Run as root, or start the "
              "program with 'run.itrace -- COMMAND'.",
              pid, errno_text(error),
              scope.empty() || scope == "0"
                  ? std::string()
                  : fmt::format("; or kernel.yama.ptrace_scope, which is {}, forbids it", scope))};
}

// Whether the trap of a step is still pending after the reported stop: it would kill the thread
// when it is detached.
bool has_trap_pending(pid_t tid) {
  constexpr int max_signals = 64;
  std::vector<siginfo_t> signals(max_signals);
  const __ptrace_peeksiginfo_args from_the_first{0, 0, max_signals};
  const long count = ::ptrace(PTRACE_PEEKSIGINFO, tid, &from_the_first, signals.data());
  return std::any_of(signals.begin(), signals.begin() + std::max(count, 0l),
                     [](const siginfo_t& each) { return each.si_signo == SIGTRAP; });
}

}  // namespace

PtraceFollower::PtraceFollower(FlowWriter::Put put, uint32_t flags, PtraceCounts& counts)
    : writer_(std::move(put), flags), flags_(flags), counts_(counts) {}

// ---- following ----

// Threads that are started meanwhile are found in the next round; those that attached threads start
// are traced from their beginning.
Status PtraceFollower::attach(uint32_t pid) {
  std::vector<uint32_t> taken;
  int error = ESRCH;
  for (bool found = true; found;) {
    found = false;
    for (const uint32_t tid : threads_of(pid)) {
      if (threads_.count(tid) != 0) continue;
      if (!seize(pid, tid)) {
        error = errno;
        continue;
      }
      taken.push_back(tid);
      found = true;
    }
  }
  if (taken.empty() && error == ESRCH && !threads_of(pid).empty()) return {};  // has been ours
  if (taken.empty()) return refused(pid, error);
  wait_for_begin(std::move(taken));
  return {};
}

// The threads stop before they execute another instruction in user mode. Not waited for without
// limit: one that waits in vfork() stops when its child allows it.
void PtraceFollower::wait_for_begin(std::vector<uint32_t> tids) {
  const auto has_begun = [this](uint32_t tid) {
    const auto found = threads_.find(tid);
    return found == threads_.end() || found->second.has_begun();
  };
  const auto start = Clock::now();
  while (!tids.empty() && Clock::now() - start < begin_limit_) {
    if (has_begun(tids.back()))
      tids.pop_back();
    else
      follow();
  }
  begin_limit_ -= std::min<Clock::duration>(begin_limit_, Clock::now() - start);
}

bool PtraceFollower::seize(uint32_t pid, uint32_t tid) {
  const bool children = (flags_ & PITRACE_ITRACE_CHILDREN) != 0;
  const long options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD |
                       (children ? PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK : 0);
  if (::ptrace(PTRACE_SEIZE, as_pid(tid), nullptr, options) != 0) {
    counts_.untraced += errno != ESRCH;
    return false;
  }
  ::ptrace(PTRACE_INTERRUPT, as_pid(tid), nullptr, nullptr);
  threads_.emplace(tid, PtraceThread({pid, tid}));
  counts_.threads = static_cast<uint32_t>(threads_.size());
  return true;
}

void PtraceFollower::follow() {
  constexpr int looks = 50;
  for (int look = 0; look < looks; ++look) {
    int status = 0;
    const pid_t tid = ::waitpid(-1, &status, ours);
    if (tid > 0) return handle(static_cast<uint32_t>(tid), status);
    if (tid < 0) break;
    std::this_thread::yield();
  }
  std::this_thread::sleep_for(pause);
}

void PtraceFollower::handle(uint32_t tid, int status) {
  const auto found = threads_.find(tid);
  if (found == threads_.end()) return new_thread(tid, status);
  found->second.has_stopped();
  if (WIFSTOPPED(status)) return stopped(found->second, status);
  ended(found->second);
}

// The kernel has attached this thread to us; its first stop is its beginning.
void PtraceFollower::new_thread(uint32_t tid, int status) {
  if (!WIFSTOPPED(status)) return;
  const uint32_t pid = process_of(tid);
  const bool is_thread = std::any_of(threads_.begin(), threads_.end(),
                                     [&](const auto& each) { return each.second.id().pid == pid; });
  if (pid == 0 || (!is_thread && (flags_ & PITRACE_ITRACE_CHILDREN) == 0)) {
    ::ptrace(PTRACE_DETACH, as_pid(tid), nullptr, nullptr);
    return;
  }
  auto& thread = threads_.emplace(tid, PtraceThread({pid, tid})).first->second;
  counts_.threads = static_cast<uint32_t>(threads_.size());
  thread.has_stopped();
  stopped(thread, status);
}

void PtraceFollower::stopped(PtraceThread& thread, int status) {
  const int signal = WSTOPSIG(status);
  const int event = status >> 16;
  if (event != 0) return at_event(thread, event, signal);
  if (signal == call_stop) {
    if (thread.has_begun() && is_call_exit(as_pid(thread.id().tid))) trapped(thread);
    return resume(thread, 0);
  }
  if (signal != SIGTRAP || !thread.has_begun()) return resume(thread, signal);
  resume(thread, trapped(thread) ? 0 : SIGTRAP);
}

// False: the SIGTRAP is a signal of the program.
bool PtraceFollower::trapped(PtraceThread& thread) {
  uint64_t gaps = 0;
  const uint32_t branches = thread.branches();
  const bool is_step = thread.trapped(writer_, gaps);
  ++counts_.steps;
  counts_.gaps += gaps;
  counts_.branches += thread.branches() - branches;
  return is_step;
}

void PtraceFollower::at_event(PtraceThread& thread, int event, int signal) {
  if (event == PTRACE_EVENT_EXEC) exec(thread);
  if (event == PTRACE_EVENT_STOP && !thread.has_begun()) thread.begin(writer_);
  // Stopped by a signal: it stays stopped, but ptrace reports when it is continued.
  if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) return thread.listen();
  resume(thread, 0);
}

// All other threads of the process have ended without a report, and the one that called exec has
// become the main thread.
void PtraceFollower::exec(PtraceThread& main) {
  const uint32_t pid = main.id().pid;
  unsigned long former = pid;
  ::ptrace(PTRACE_GETEVENTMSG, as_pid(pid), nullptr, &former);
  if (const auto found = threads_.find(static_cast<uint32_t>(former));
      found != threads_.end() && former != pid) {
    counts_.gaps += main.end(writer_, PITRACE_STOP_EXIT);
    std::swap(main, found->second);
    main.become_main();
    main.has_stopped();
  }
  for (auto each = threads_.begin(); each != threads_.end();) {
    const bool gone = each->second.id().pid == pid && each->first != pid;
    if (gone) counts_.gaps += each->second.end(writer_, PITRACE_STOP_EXIT);
    each = gone ? threads_.erase(each) : std::next(each);
  }
  counts_.threads = static_cast<uint32_t>(threads_.size());
}

void PtraceFollower::ended(PtraceThread& thread) {
  counts_.gaps += thread.end(writer_, PITRACE_STOP_EXIT);
  threads_.erase(thread.id().tid);
  counts_.threads = static_cast<uint32_t>(threads_.size());
}

// This fails when the thread was killed meanwhile; then its end is the next thing to wait for.
void PtraceFollower::resume(PtraceThread& thread, int signal) {
  thread.step(signal);
}

// ---- the end ----

std::vector<LeftThread> PtraceFollower::detach_all() {
  for (auto each = threads_.begin(); each != threads_.end();) {
    auto& thread = (each++)->second;
    if (!thread.is_running())
      detach(thread, 0);
    else
      ::ptrace(PTRACE_INTERRUPT, as_pid(thread.id().tid), nullptr, nullptr);
  }
  constexpr int looks = 1000;  // a tenth of a second
  const auto end = Clock::now() + detach_limit;
  for (int look = 1; !threads_.empty() && Clock::now() < end; ++look) {
    int status = 0;
    const pid_t tid = ::waitpid(-1, &status, ours);
    if (tid < 0) break;
    if (look % looks == 0) drop_ended_threads();
    if (tid == 0)
      std::this_thread::sleep_for(pause);
    else if (const auto found = threads_.find(static_cast<uint32_t>(tid)); found != threads_.end())
      detach(found->second, status);
    else if (WIFSTOPPED(status))
      ::ptrace(PTRACE_DETACH, tid, nullptr, nullptr);  // has been started just now
  }
  drop_ended_threads();
  std::vector<LeftThread> left;
  for (auto& [tid, thread] : threads_) {
    left.push_back({thread.id(), thread.has_trap_flag()});
    counts_.gaps += thread.end(writer_, PITRACE_STOP_OFF);
  }
  threads_.clear();
  counts_.threads = 0;
  return left;
}

void PtraceFollower::drop_ended_threads() {
  for (auto each = threads_.begin(); each != threads_.end();) {
    auto& thread = (each++)->second;
    if (has_ended(thread.id().tid)) ended(thread);
  }
}

// status: of its stop; 0: it was stopped before. A signal that is being delivered is passed on.
void PtraceFollower::detach(PtraceThread& thread, int status) {
  if (status != 0 && !WIFSTOPPED(status)) return ended(thread);
  const auto tid = as_pid(thread.id().tid);
  thread.has_stopped();
  // Its next stop is that trap: at once, unless a system call has not returned.
  if (status >> 16 != 0 && has_trap_pending(tid)) return thread.run_freely();
  int signal = status == 0 || status >> 16 != 0 ? 0 : WSTOPSIG(status);
  if (signal == call_stop) signal = thread.has_begun() && is_call_exit(tid) ? SIGTRAP : 0;
  if (signal == SIGTRAP && thread.has_begun() && trapped(thread)) signal = 0;
  counts_.gaps += thread.end(writer_, PITRACE_STOP_OFF);
  ::ptrace(PTRACE_DETACH, tid, nullptr, signal);
  threads_.erase(thread.id().tid);
}

}  // namespace pi::perfutil
