// SPDX-License-Identifier: MIT
// The handler of SIGTRAP.
#include "traps.h"

#include <dirent.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include <pi/files.h>

#include "nops.h"

namespace pi::hookit {
namespace {

// Sorted. One that was replaced is not freed, as a handler may read it.
struct Expected {
  std::vector<uintptr_t> addresses;
  const Expected* before = nullptr;
};

std::atomic<const Expected*> expected = nullptr;
struct sigaction program_action {};

void call_program(int signal, siginfo_t* info, void* context) {
  if (program_action.sa_flags & SA_SIGINFO)
    return program_action.sa_sigaction(signal, info, context);
  if (program_action.sa_handler == SIG_IGN) return;
  if (program_action.sa_handler != SIG_DFL) return program_action.sa_handler(signal);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

bool is_expected(uintptr_t address) {
  for (const Expected* all = expected.load(std::memory_order_acquire); all; all = all->before)
    if (std::binary_search(all->addresses.begin(), all->addresses.end(), address)) return true;
  return false;
}

void on_trap(int signal, siginfo_t* info, void* context) {
  auto& next = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
  const uintptr_t address = static_cast<uintptr_t>(next) - 1;
  if (!is_expected(address)) return call_program(signal, info, context);
  next = static_cast<greg_t>(address + patch_bytes);
}

void watch_traps() {
  struct sigaction now {};
  if (::sigaction(SIGTRAP, nullptr, &now) != 0) return;
  if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_trap) return;
  program_action = now;
  struct sigaction ours {};
  ours.sa_sigaction = on_trap;
  // SA_NODEFER: a thread that is still in the handler can execute the next breakpoint.
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER;
  ::sigaction(SIGTRAP, &ours, nullptr);
}

// A handler that runs with SIGTRAP blocked could not execute a breakpoint.
void unblock_in_handlers() {
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    struct sigaction action {};
    if (signal == SIGTRAP || ::sigaction(signal, nullptr, &action) != 0) continue;
    if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN ||
        !::sigismember(&action.sa_mask, SIGTRAP))
      continue;
    ::sigdelset(&action.sa_mask, SIGTRAP);
    ::sigaction(signal, &action, nullptr);
  }
}

// The calling thread executes no patched function meanwhile.
bool blocks_trap(const char* tid) {
  if (std::to_string(::syscall(SYS_gettid)) == tid) return false;
  const auto status = read_system_file("/proc/self/task/" + std::string(tid) + "/status", 8192);
  if (!status) return false;  // it has ended
  constexpr const char* key = "\nSigBlk:\t";
  const size_t at = status->find(key);
  if (at == std::string::npos) return false;
  const auto mask = std::strtoull(status->c_str() + at + std::strlen(key), nullptr, 16);
  return (mask >> (SIGTRAP - 1) & 1) != 0;
}

// Empty: none.
std::string thread_that_blocks_trap() {
  const std::unique_ptr<DIR, int (*)(DIR*)> all(::opendir("/proc/self/task"), ::closedir);
  while (const dirent* thread = all ? ::readdir(all.get()) : nullptr)
    if (thread->d_name[0] != '.' && blocks_trap(thread->d_name)) return thread->d_name;
  return {};
}

// The C library blocks all signals for a moment, when it creates a thread for example.
Status check_threads() {
  constexpr int attempts = 50;
  constexpr timespec pause = {0, 2'000'000};
  std::string thread = thread_that_blocks_trap();
  for (int i = 1; !thread.empty() && i < attempts; ++i) {
    ::nanosleep(&pause, nullptr);
    thread = thread_that_blocks_trap();
  }
  if (thread.empty()) return {};
  return Error{EBUSY, "Functions cannot be patched while thread " + thread +
                          " blocks SIGTRAP, which a thread may get meanwhile. Unblock it there"};
}

}  // namespace

Status expect_traps(std::vector<uintptr_t> addresses) {
  if (const auto possible = check_threads(); !possible) return possible;
  unblock_in_handlers();
  std::sort(addresses.begin(), addresses.end());
  const Expected* before = expected.load(std::memory_order_relaxed);
  // Mostly the same as before.
  const bool all_known = std::all_of(addresses.begin(), addresses.end(), is_expected);
  if (!all_known)
    expected.store(new Expected{std::move(addresses), before}, std::memory_order_release);
  watch_traps();
  return {};
}

}  // namespace pi::hookit
