// SPDX-License-Identifier: MIT
// The ways in which a process ends: _exit(), daemon() and exec...() as the program calls them, and
// signals. The C library's own calls of them, such as those of exit() and posix_spawn(), do not
// come here.
#include "endings.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <vector>

#include <pi/uninterrupted.h>

#include "engine.h"
#include "hooks.h"
#include "joined.h"
#include "session.h"

namespace pi::hookit {
namespace {

constexpr unsigned copy_timeout_seconds = 10;
// Without SIGPROF and the real-time signals: profilers and other libraries do not use a signal that
// has a handler.
constexpr int fatal_signals[] = {SIGHUP,    SIGINT,  SIGQUIT, SIGILL,    SIGTRAP, SIGABRT, SIGBUS,
                                 SIGFPE,    SIGUSR1, SIGSEGV, SIGUSR2,   SIGPIPE, SIGALRM, SIGTERM,
                                 SIGSTKFLT, SIGXCPU, SIGXFSZ, SIGVTALRM, SIGIO,   SIGPWR,  SIGSYS};

[[noreturn]] void end_process(int status) {
  for (;;) ::syscall(SYS_exit_group, status);
}

// A signal may have come while the process was inside malloc() or held another lock, so the logs
// are written by a copy of it, which gets a limited time.
void write_in_copy() {
  static std::atomic_flag done;
  Session* session = Session::get();
  // A child of vfork() has its parent's memory.
  if (!session || is_joined() || !session->is_of_this_process() || done.test_and_set()) return;
  const pid_t copy = ::_Fork();
  if (copy == 0) {
    ::signal(SIGALRM, SIG_DFL);
    sigset_t all;
    ::sigemptyset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    ::alarm(copy_timeout_seconds);
    const pi::callflow::Ignored ignored(this_thread());
    session->end_in_copy();
    end_process(0);
  }
  if (copy > 0) uninterrupted([&] { return ::waitpid(copy, nullptr, 0); });
}

void on_signal(int signal) {
  const int error = errno;
  write_in_copy();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
  errno = error;
}

// The process becomes another program, which may fail, or ends inside of the C library.
void before_exec() {
  if (Session* session = Session::get()) session->end(true);
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// The arguments of execl() and its siblings, up to the null pointer.
std::vector<char*> arguments(const char* first, va_list& rest) {
  std::vector<char*> all;
  for (const char* argument = first; argument; argument = va_arg(rest, const char*))
    all.push_back(const_cast<char*>(argument));
  all.push_back(nullptr);
  return all;
}

}  // namespace

void watch_signals() {
  for (const int signal : fatal_signals) {
    struct sigaction before {};
    if (::sigaction(signal, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace pi::hookit

using namespace pi::hookit;

#pragma GCC visibility push(default)
extern "C" {

// Signal handlers may call it.
void _exit(int status) {
  write_in_copy();
  end_process(status);
}

void _Exit(int status) noexcept {
  _exit(status);
}

int execve(const char* path, char* const argv[], char* const envp[]) noexcept {
  before_exec();
  return static_cast<int>(::syscall(SYS_execve, path, argv, envp));
}

int execv(const char* path, char* const argv[]) noexcept {
  return execve(path, argv, environ);
}

int execvp(const char* file, char* const argv[]) noexcept {
  before_exec();
  return next<decltype(execvp)>("execvp")(file, argv);
}

int execvpe(const char* file, char* const argv[], char* const envp[]) noexcept {
  before_exec();
  return next<decltype(execvpe)>("execvpe")(file, argv, envp);
}

int fexecve(int fd, char* const argv[], char* const envp[]) noexcept {
  before_exec();
  return next<decltype(fexecve)>("fexecve")(fd, argv, envp);
}

int execveat(int directory, const char* path, char* const argv[], char* const envp[],
             int flags) noexcept {
  before_exec();
  return static_cast<int>(::syscall(SYS_execveat, directory, path, argv, envp, flags));
}

// Its parent calls _exit() inside of the C library.
int daemon(int no_chdir, int no_close) noexcept {
  before_exec();
  return next<decltype(daemon)>("daemon")(no_chdir, no_close);
}

int execl(const char* path, const char* first, ...) noexcept {
  va_list rest;
  va_start(rest, first);
  const auto argv = arguments(first, rest);
  va_end(rest);
  return execve(path, argv.data(), environ);
}

int execlp(const char* file, const char* first, ...) noexcept {
  va_list rest;
  va_start(rest, first);
  const auto argv = arguments(first, rest);
  va_end(rest);
  return execvp(file, argv.data());
}

int execle(const char* path, const char* first, ...) noexcept {
  va_list rest;
  va_start(rest, first);
  const auto argv = arguments(first, rest);
  char* const* envp = va_arg(rest, char* const*);
  va_end(rest);
  return execve(path, argv.data(), envp);
}
}
#pragma GCC visibility pop
