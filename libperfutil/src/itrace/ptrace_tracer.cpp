// SPDX-License-Identifier: MIT
// Steps the threads of processes by ptrace and records their flows of user code.
#include "ptrace_tracer.h"

#include <dirent.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <charconv>
#include <csignal>
#include <memory>
#include <new>
#include <system_error>

#include <fmt/format.h>

#include "perfutil.h"
#include "system/text.h"

namespace pi::perfutil {
namespace {

constexpr auto pause = std::chrono::microseconds(100);

// Waits only for threads that this thread traces, not for other children of the program.
constexpr int ours = __WALL | __WNOTHREAD;

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

// The process that a thread belongs to; 0 when the thread has ended.
uint32_t process_of(uint32_t tid) {
  const auto text = read_text(fmt::format("/proc/{}/status", tid));
  if (!text) return 0;
  constexpr std::string_view key = "\nTgid:\t";
  const size_t place = text->find(key);
  uint32_t pid = 0;
  if (place != std::string::npos)
    std::from_chars(text->data() + place + key.size(), text->data() + text->size(), pid);
  return pid;
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

PtraceTracer::PtraceTracer(FlowWriter::Put put, uint32_t flags, Counts& counts)
    : writer_(std::move(put), flags), flags_(flags), counts_(counts) {}

// ---- other threads' side ----

Status PtraceTracer::attach(uint32_t pid) {
  std::unique_lock lock(mutex_);
  if (!runner_.joinable()) {
    try {
      runner_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      return Error{PU_ERROR_NOT_ENOUGH_MEMORY,
                   "Cannot start a thread for tracing. Raise the limit with 'ulimit -u'."};
    }
  }
  request_ = pid;
  has_request_ = true;
  answer_.reset();
  done_.wait(lock, [this] { return answer_.has_value() || ended_; });
  if (answer_) return *answer_;
  return Error{PU_ERROR_INCORRECT_STATE,
               "ITrace has ended by itself: the trace buffer is full, or there is no memory."};
}

void PtraceTracer::stop() {
  ask_to_stop();
  if (runner_.joinable()) runner_.join();
}

// ---- the tracing thread ----

void PtraceTracer::run() {
  try {
    follow_all();
  } catch (const std::bad_alloc&) {
    // Ends the recording and detaches the threads.
  }
  detach_all();
  const std::lock_guard lock(mutex_);
  ended_ = true;
  done_.notify_all();
}

void PtraceTracer::follow_all() {
  while (!is_stopping()) {
    if (has_request_) take_request();
    int status = 0;
    const pid_t tid = wait(status);
    if (tid > 0) handle(static_cast<uint32_t>(tid), status);
  }
}

void PtraceTracer::take_request() {
  std::unique_lock lock(mutex_);
  const uint32_t pid = *request_;
  has_request_ = false;
  lock.unlock();
  Status attached = attach_here(pid);
  lock.lock();
  answer_ = std::move(attached);
  done_.notify_all();
}

// Threads that are started meanwhile are found in the next round; those that attached threads start
// are traced from their beginning.
Status PtraceTracer::attach_here(uint32_t pid) {
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
  for (const uint32_t tid : taken) {
    int status = 0;
    if (::waitpid(as_pid(tid), &status, ours) == as_pid(tid)) handle(tid, status);
  }
  return {};
}

bool PtraceTracer::seize(uint32_t pid, uint32_t tid) {
  const bool children = (flags_ & PITRACE_ITRACE_CHILDREN) != 0;
  const long options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
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

// A thread that executes an instruction stops at once; one in a system call perhaps never.
pid_t PtraceTracer::wait(int& status) {
  const bool soon = std::any_of(threads_.begin(), threads_.end(),
                                [](const auto& each) { return each.second.stops_soon(); });
  if (soon) return ::waitpid(-1, &status, ours);
  constexpr int looks = 50;
  for (int look = 0; look < looks; ++look) {
    const pid_t tid = ::waitpid(-1, &status, ours | WNOHANG);
    if (tid > 0) return tid;
    if (tid < 0) break;
    std::this_thread::yield();
  }
  std::this_thread::sleep_for(pause);
  return 0;
}

void PtraceTracer::handle(uint32_t tid, int status) {
  const auto found = threads_.find(tid);
  if (found == threads_.end()) return new_thread(tid, status);
  found->second.has_stopped();
  if (WIFSTOPPED(status)) return stopped(found->second, status);
  ended(found->second);
}

// The kernel has attached this thread to us; its first stop is its beginning.
void PtraceTracer::new_thread(uint32_t tid, int status) {
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
  stopped(thread, status);
}

void PtraceTracer::stopped(PtraceThread& thread, int status) {
  const int signal = WSTOPSIG(status);
  const int event = status >> 16;
  if (event != 0) return at_event(thread, event, signal);
  if (signal != SIGTRAP || !thread.has_begun()) return resume(thread, signal);
  uint64_t gaps = 0;
  const uint32_t branches = thread.branches();
  const bool is_step = thread.trapped(writer_, gaps);
  ++counts_.steps;
  counts_.gaps += gaps;
  counts_.branches += thread.branches() - branches;
  resume(thread, is_step ? 0 : SIGTRAP);
}

void PtraceTracer::at_event(PtraceThread& thread, int event, int signal) {
  if (event == PTRACE_EVENT_EXEC) exec(thread);
  if (event == PTRACE_EVENT_STOP && !thread.has_begun()) thread.begin(writer_);
  // Stopped by a signal: it stays stopped, but ptrace reports when it is continued.
  if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) return thread.listen();
  resume(thread, 0);
}

// All other threads of the process have ended without a report, and the one that called exec has
// become the main thread.
void PtraceTracer::exec(PtraceThread& main) {
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

void PtraceTracer::ended(PtraceThread& thread) {
  counts_.gaps += thread.end(writer_, PITRACE_STOP_EXIT);
  threads_.erase(thread.id().tid);
  counts_.threads = static_cast<uint32_t>(threads_.size());
}

// This fails when the thread was killed meanwhile; then its end is the next thing to wait for.
void PtraceTracer::resume(PtraceThread& thread, int signal) {
  thread.step(signal);
}

// ---- the end ----

void PtraceTracer::detach_all() {
  for (auto& [tid, thread] : threads_) ::ptrace(PTRACE_INTERRUPT, as_pid(tid), nullptr, nullptr);
  while (!threads_.empty()) {
    auto& thread = threads_.begin()->second;
    int status = 0;
    const auto tid = as_pid(thread.id().tid);
    if (thread.is_running() && ::waitpid(tid, &status, ours) != tid) status = 0;
    detach(thread, status);
    threads_.erase(threads_.begin());
  }
  // New threads that were not handled yet.
  for (int status = 0;;) {
    const pid_t tid = ::waitpid(-1, &status, ours | WNOHANG);
    if (tid <= 0) break;
    if (WIFSTOPPED(status)) ::ptrace(PTRACE_DETACH, tid, nullptr, nullptr);
  }
  counts_.threads = 0;
}

// status: of its stop; 0: it was stopped before. A signal that is being delivered is passed on.
void PtraceTracer::detach(PtraceThread& thread, int status) {
  const auto end = [&](uint32_t reason) { counts_.gaps += thread.end(writer_, reason); };
  if (status != 0 && !WIFSTOPPED(status)) return end(PITRACE_STOP_EXIT);
  const auto tid = as_pid(thread.id().tid);
  if (status >> 16 != 0 && has_trap_pending(tid)) {
    ::ptrace(PTRACE_CONT, tid, nullptr, nullptr);
    if (::waitpid(tid, &status, ours) != tid || !WIFSTOPPED(status)) return end(PITRACE_STOP_EXIT);
  }
  int signal = status == 0 || status >> 16 != 0 ? 0 : WSTOPSIG(status);
  uint64_t gaps = 0;
  if (signal == SIGTRAP && thread.trapped(writer_, gaps)) signal = 0;
  counts_.gaps += gaps;
  end(PITRACE_STOP_OFF);
  ::ptrace(PTRACE_DETACH, tid, nullptr, signal);
}

}  // namespace pi::perfutil
