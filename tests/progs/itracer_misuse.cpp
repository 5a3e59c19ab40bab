// SPDX-License-Identifier: MIT
// Debugging of a traced thread by ptrace, and calls that must fail.
#include <fcntl.h>
#include <fmt/format.h>
#include <pi/unique_fd.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>

#include "itracer.h"

namespace itracer {

// Attaches to a program like a debugger, steps it and detaches.
int step(pid_t pid, int steps) {
  if (::ptrace(PTRACE_ATTACH, pid, nullptr, nullptr) != 0) fail("attach");
  int status = 0;
  ::waitpid(pid, &status, 0);
  for (int i = 0; i < steps; ++i) {
    if (::ptrace(PTRACE_SINGLESTEP, pid, nullptr, nullptr) != 0) fail("step");
    if (::waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) {
      std::cerr << fmt::format("itracer: step {} ended with status {:x}\n", i, status);
      return 1;
    }
    user_regs_struct registers{};
    ::ptrace(PTRACE_GETREGS, pid, nullptr, &registers);
    if ((registers.eflags & 0x100) != 0 && i > 0) {
      // The module's trap flag must not be visible to the debugger.
      std::cerr << "itracer: the trap flag is in the registers that a debugger sees\n";
      return 1;
    }
  }
  if (::ptrace(PTRACE_DETACH, pid, nullptr, nullptr) != 0) fail("detach");
  return 0;
}

// Makes each call and checks for the documented error.
int misuse() {
  pi::UniqueFd owner(::open(PITRACE_DEVICE_PATH, O_RDWR | O_CLOEXEC));
  pi::UniqueFd other(::open(PITRACE_DEVICE_PATH, O_RDWR | O_CLOEXEC));
  int wrong = 0;
  const auto expect = [&wrong](int fd, unsigned long command, void* argument, int error,
                               const char* what) {
    const int got = ::ioctl(fd, command, argument) == 0 ? 0 : errno;
    if (got == error) return;
    ++wrong;
    std::cout << fmt::format("{}: {} instead of {}\n", what, got, error);
  };
  pitrace_alloc alloc{};
  alloc.trace_bytes = alloc.mte_bytes = 1 << 20;
  pitrace_itrace wanted{};
  const auto self = uint32_t(::getpid());
  pitrace_itrace_pids mine{self, self}, all{1, UINT32_MAX}, none{2, 1};
  uint32_t all_threads = PITRACE_ITRACE_ALL, me = PITRACE_ITRACE_SELF, invalid_scope = 2;
  pitrace_itrace_info info{};
  expect(owner.get(), PITRACE_IOC_IT_INSTALL, &wanted, EPERM, "install without buffers");
  expect(owner.get(), PITRACE_IOC_ALLOC, &alloc, 0, "alloc");
  expect(owner.get(), PITRACE_IOC_IT_REMOVE, nullptr, EALREADY, "remove before install");
  expect(owner.get(), PITRACE_IOC_IT_ENABLE, &mine, EINVAL, "enable before install");
  expect(owner.get(), PITRACE_IOC_IT_OFF, &all_threads, EINVAL, "off before install");
  expect(owner.get(), PITRACE_IOC_IT_INFO, &info, 0, "info");
  wanted.flags = 0x80000000;
  expect(owner.get(), PITRACE_IOC_IT_INSTALL, &wanted, EINVAL, "unknown flags");
  wanted.flags = PITRACE_ITRACE_NO_KERNEL | PITRACE_ITRACE_NO_USER;
  expect(owner.get(), PITRACE_IOC_IT_INSTALL, &wanted, EINVAL, "neither kernel nor user");
  wanted.flags = PITRACE_ITRACE_CONTINUOUS;
  wanted.reserve = 4096;
  expect(owner.get(), PITRACE_IOC_IT_INSTALL, &wanted, EINVAL, "continuous in normal mode");
  wanted = {};
  wanted.reserve = 4096;
  expect(owner.get(), PITRACE_IOC_IT_INSTALL, &wanted, EINVAL, "a reserve without continuous");
  wanted = {};
  wanted.threads = PITRACE_ITRACE_THREADS_MAX + 1;
  expect(owner.get(), PITRACE_IOC_IT_INSTALL, &wanted, EINVAL, "too many threads");
  wanted.threads = 1;
  expect(other.get(), PITRACE_IOC_IT_INSTALL, &wanted, EPERM, "install by another handle");
  expect(owner.get(), PITRACE_IOC_IT_INSTALL, &wanted, 0, "install");
  expect(owner.get(), PITRACE_IOC_IT_INSTALL, &wanted, EBUSY, "install twice");
  expect(other.get(), PITRACE_IOC_IT_REMOVE, nullptr, EPERM, "remove by another handle");
  expect(other.get(), PITRACE_IOC_IT_ENABLE, &all, EPERM, "enable all by another handle");
  expect(owner.get(), PITRACE_IOC_IT_ENABLE, &none, EINVAL, "enable nothing");
  expect(other.get(), PITRACE_IOC_IT_ENABLE, &mine, 0, "enable oneself");
  for (int i = 0; i < 2 * PITRACE_ITRACE_RANGES; ++i)
    expect(other.get(), PITRACE_IOC_IT_ENABLE, &mine, 0, "enable again");
  for (uint32_t i = 1; i < PITRACE_ITRACE_RANGES; ++i) {
    pitrace_itrace_pids range{1000000 + i, 2000000};
    expect(owner.get(), PITRACE_IOC_IT_ENABLE, &range, 0, "enable more");
  }
  expect(owner.get(), PITRACE_IOC_IT_ENABLE, &all, ENOSPC, "enable once more");
  expect(other.get(), PITRACE_IOC_IT_DISABLE, nullptr, EPERM, "disable by another handle");
  expect(owner.get(), PITRACE_IOC_IT_ON, &all_threads, EINVAL, "on before the trace is on");
  expect(owner.get(), PITRACE_IOC_ON, nullptr, 0, "trace on");
  expect(owner.get(), PITRACE_IOC_IT_ON, &invalid_scope, EINVAL, "on for no thread");
  expect(other.get(), PITRACE_IOC_IT_ON, &all_threads, EPERM, "on for all by another handle");
  expect(other.get(), PITRACE_IOC_IT_OFF, &me, EALREADY, "off twice");
  expect(other.get(), PITRACE_IOC_IT_ON, &me, 0, "on");
  expect(other.get(), PITRACE_IOC_IT_ON, &me, EALREADY, "on twice");
  expect(other.get(), PITRACE_IOC_IT_OFF, &me, 0, "off");
  expect(owner.get(), PITRACE_IOC_IT_OFF, &all_threads, EALREADY, "off for all twice");
  expect(owner.get(), PITRACE_IOC_IT_DISABLE, nullptr, 0, "disable");
  expect(other.get(), PITRACE_IOC_IT_ON, &me, EINVAL, "on while not enabled");
  expect(owner.get(), PITRACE_IOC_IT_INSTALL, nullptr, EFAULT, "no argument");
  expect(owner.get(), PITRACE_IOC_TERMINATE, nullptr, 0, "terminate");
  expect(owner.get(), PITRACE_IOC_IT_REMOVE, nullptr, EPERM, "remove after the end");
  return wrong == 0 ? 0 : 1;
}

}  // namespace itracer
