// SPDX-License-Identifier: MIT
// The search for leaked blocks when the process ends: by a child that shares the memory, stops the
// other threads by ptrace, and is gone before the process ends.
#include "at_end.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "here_x86.h"
#include "leaks.h"
#include "pages.h"
#include "session.h"
#include "thread.h"

extern "C" int __cxa_atexit(void (*function)(void*), void* argument, void* library);

namespace pi::heapit {
namespace {

using heap_log::Search;
using heap_log::searched;

constexpr size_t stack_bytes = 256 << 10, most_ranges = 2 * Blocks::shards + 8;
constexpr int most_attempts = 100;
constexpr timespec between_attempts{0, 1'000'000}, until_begin{0, 20'000};

uint64_t control_block() {
  uint64_t address = 0;
  asm("mov %%fs:0, %0" : "=r"(address));
  return address;
}

// What the child gets. Its result is there when it has ended.
struct Job {
  Session* session;
  OwnThread own;
  pid_t pid;
  uint64_t nanoseconds;
  Range stack;
  Search state;
  std::atomic<bool> may_begin;
};

// A thread that is in the middle of a change would leave blocks in neither place.
bool may_search(const Session& session, LeakSearch& search) {
  const auto flag = reinterpret_cast<uint64_t>(&this_thread.moving_block) - control_block();
  return session.blocks().is_quiet() && !search.is_set_in_a_thread(flag);
}

Search stop(const Job& job, LeakSearch& search, const SearchLimit& limit) {
  for (int i = 0; i < most_attempts; ++i) {
    if (const Search state = search.stop(); state != searched) return state;
    if (may_search(*job.session, search)) return searched;
    search.resume();
    ::nanosleep(&between_attempts, nullptr);
    if (const Search state = limit.reached(); state != searched) return state;
  }
  return heap_log::not_stopped;
}

Search search_in(const Job& job, LeakSearch& search, const SearchLimit& limit) {
  Session& session = *job.session;
  if (const Search state = stop(job, search, limit); state != searched) return state;
  if (session.log().header().lost[heap_log::unseen_frees] != 0) return heap_log::blocks_unknown;
  const auto add = [&](uint64_t address, const Block& block) {
    return search.add(address, block, session.log());
  };
  return session.blocks().for_each(add) ? search.run() : heap_log::not_stopped;
}

// A thread that begins to allocate while the search begins.
constexpr size_t more_blocks = 4096;

int child(void* argument) {
  auto& job = *static_cast<Job*>(argument);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (!job.may_begin.load(std::memory_order_acquire)) {
    if (::getppid() != job.pid) return 1;
    ::nanosleep(&until_begin, nullptr);
  }
  std::array<Range, most_ranges> ranges;
  size_t count = 0;
  const auto leave_out = [&](uint64_t begin, uint64_t end) {
    if (begin < end && count < ranges.size()) ranges[count++] = {begin, end};
  };
  leave_out(job.stack.begin, job.stack.end);
  job.session->for_each_memory(leave_out);
  const SearchLimit limit(job.nanoseconds);
  const Searched what{::getpid(),
                      true,
                      {own_maps, "/proc/self/stat", job.session->knows_all_blocks()},
                      "/proc/self/pagemap",
                      job.pid,
                      &job.own,
                      std::span(ranges).first(count)};
  LeakSearch search(what, job.session->blocks().count() + more_blocks, limit);
  job.state = search_in(job, search, limit);
  search.write(job.session->log(), job.state);
  return 0;
}

// No signal may reach this thread or the child: their handlers are the program's.
class NoSignals {
 public:
  NoSignals() {
    const uint64_t all = ~uint64_t{0};
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before_, sizeof all);
  }
  ~NoSignals() { ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  uint64_t before_ = 0;
};

Search run_child(Job& job) {
  std::byte* stack = map_pages(stack_bytes);
  if (!stack) return heap_log::no_memory;
  const auto begin = reinterpret_cast<uint64_t>(stack);
  job.stack = {begin, begin + stack_bytes};
  const NoSignals no_signals;
  // Without a signal at its end, which the program would get.
  const pid_t pid = ::clone(child, stack + stack_bytes, CLONE_VM | CLONE_UNTRACED, &job);
  if (pid < 0) {
    job.state = heap_log::no_memory;
  } else {
    // Where a child may not trace its parent unless that permits it (Yama).
    ::prctl(PR_SET_PTRACER, pid, 0, 0, 0);
    job.may_begin.store(true, std::memory_order_release);
    int status = 0;
    while (::syscall(SYS_wait4, pid, &status, __WALL, nullptr) < 0 && errno == EINTR) {
    }
    ::prctl(PR_SET_PTRACER, 0, 0, 0, 0);
  }
  unmap_pages(stack, stack_bytes);
  return job.state;
}

[[gnu::noinline]] void search_leaks(const Here& here) {
  Session* session = Session::at_end();
  if (!session) return;
  const Inside inside;
  if (!inside) return;
  const std::array<uint64_t, 7> registers = {here.rbx, here.rbp, here.rsp, here.r12,
                                             here.r13, here.r14, here.r15};
  Job job{session,    {::gettid(), registers, {here.rsp, control_block()}},
          ::getpid(), session->search_nanoseconds(),
          {},         heap_log::interrupted,
          false};
  const Search state = run_child(job);
  // Else it has written it together with the numbers.
  heap_log::Header& header = session->log().header();
  if (header.search != heap_log::not_searched) return;
  header.search = state;
  header.search_limit = session->search_nanoseconds();
}

}  // namespace

void prepare_end() {
  // For no library: else it would be called before the destructors of others.
  __cxa_atexit([](void*) { search_leaks(here()); }, nullptr, nullptr);
  ::at_quick_exit([] { search_leaks(here()); });
}

}  // namespace pi::heapit

#pragma GCC visibility push(default)
extern "C" {

void _exit(int status) {
  pi::heapit::search_leaks(pi::heapit::here());
  for (;;) ::syscall(SYS_exit_group, status);
}

void _Exit(int status) noexcept {
  pi::heapit::search_leaks(pi::heapit::here());
  for (;;) ::syscall(SYS_exit_group, status);
}
}
#pragma GCC visibility pop
