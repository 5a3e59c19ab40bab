// SPDX-License-Identifier: MIT
// The threads of a process, stopped by ptrace.
#include "frozen.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <string_view>

#include "system.h"

namespace pi::heapit {
namespace {

using heap_log::Search;
using heap_log::searched;

constexpr uint64_t most_wait_ns = 1'000'000'000;  // for threads that do not stop

// The layout of getdents64().
struct Entry {
  uint64_t inode;
  int64_t next;
  uint16_t bytes;
  uint8_t type;
  char name[1];
};

// Calls take(tid) until it returns false. False: the directory cannot be read.
template <class Take>
bool for_each_thread(pid_t pid, Take&& take) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/task", int{pid});
  const Descriptor directory(path.data(), O_RDONLY | O_DIRECTORY);
  if (!directory) return false;
  alignas(Entry) std::array<char, 4096> buffer;
  for (;;) {
    const long bytes = ::syscall(SYS_getdents64, directory.number(), buffer.data(), buffer.size());
    if (bytes <= 0) return bytes == 0;
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const Entry*>(buffer.data() + at);
      const std::string_view name(entry->name);
      pid_t tid = 0;
      std::from_chars(name.data(), name.data() + name.size(), tid);
      if (tid > 0 && !take(tid)) return true;
      at += entry->bytes;
    }
  }
}

// A thread that has ended, which others wait for.
bool is_over(pid_t pid, pid_t tid) {
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(), "/proc/%d/task/%d/stat", int{pid}, int{tid});
  const Descriptor file(text.data(), O_RDONLY);
  const long bytes = file ? ::syscall(SYS_read, file.number(), text.data(), text.size()) : 0;
  if (bytes <= 0) return true;
  const std::string_view stat(text.data(), static_cast<size_t>(bytes));
  const size_t name_end = stat.rfind(')');
  if (name_end == stat.npos || name_end + 2 >= stat.size()) return false;
  return stat[name_end + 2] == 'Z' || stat[name_end + 2] == 'X';
}

}  // namespace

bool Frozen::is_known(pid_t tid) const {
  for (const Thread& thread : threads_)
    if (thread.tid == tid) return true;
  return false;
}

Search Frozen::add(pid_t pid, pid_t tid, size_t& added) {
  if (threads_.size() == threads_.capacity()) return heap_log::not_stopped;
  if (::ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) != 0)
    return errno == ESRCH || is_over(pid, tid) ? searched : heap_log::not_traced;
  threads_.push({tid, 0, false});
  ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
  ++added;
  return searched;
}

Search Frozen::add_threads(pid_t pid, pid_t but, size_t& added) {
  Search state = searched;
  const bool is_read = for_each_thread(pid, [&](pid_t tid) {
    if (tid != but && !is_known(tid)) state = add(pid, tid, added);
    return state == searched;
  });
  return is_read ? state : heap_log::not_readable;
}

// True, too, if it has ended.
bool Frozen::has_stopped(Thread& thread) {
  int status = 0;
  const pid_t waited = ::waitpid(thread.tid, &status, __WALL | WNOHANG);
  if (waited == 0) return false;
  if (waited < 0 || !WIFSTOPPED(status)) {
    thread.tid = 0;
    return true;
  }
  thread.is_stopped = true;
  thread.signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
  return true;
}

Search Frozen::wait_for_all(size_t first, const SearchLimit& limit) {
  const uint64_t begin = limit.elapsed();
  long pause_ns = 20'000;
  for (size_t i = first; i < threads_.size();) {
    if (has_stopped(threads_[i])) {
      ++i;
      continue;
    }
    if (const Search state = limit.reached(); state != searched) return state;
    if (limit.elapsed() - begin > most_wait_ns) return heap_log::not_stopped;
    const timespec pause{0, pause_ns};
    ::nanosleep(&pause, nullptr);
    if (pause_ns < 1'000'000) pause_ns *= 2;
  }
  return searched;
}

Search Frozen::stop(pid_t pid, pid_t but, const SearchLimit& limit) {
  // Those that have not stopped yet may start others.
  for (;;) {
    const size_t first = threads_.size();
    size_t added = 0;
    if (const Search state = add_threads(pid, but, added); state != searched) return state;
    if (added == 0) return searched;
    if (const Search state = wait_for_all(first, limit); state != searched) return state;
  }
}

void Frozen::resume() {
  for (Thread& thread : threads_) {
    if (thread.tid == 0) continue;
    // One that has not stopped yet would stay traced until this program ends.
    if (!thread.is_stopped && !has_stopped(thread)) continue;
    if (thread.tid != 0)
      ::ptrace(PTRACE_DETACH, thread.tid, nullptr, static_cast<uintptr_t>(thread.signal));
  }
  threads_.clear();
}

std::span<const uint64_t> Frozen::registers(const Thread& thread, std::span<uint64_t> space,
                                            ThreadPlace& place) {
  constexpr size_t general = sizeof(user_regs_struct) / sizeof(uint64_t);
  user_regs_struct registers{};
  iovec part{&registers, sizeof registers};
  if (!thread.is_stopped || space.size() < general ||
      ::ptrace(PTRACE_GETREGSET, thread.tid, NT_PRSTATUS, &part) != 0)
    return {};
  place = {registers.rsp, registers.fs_base};
  const std::span words(reinterpret_cast<const uint64_t*>(&registers), general);
  std::ranges::copy(words, space.begin());
  // Those of the vector units, which copy pointers in some functions.
  const std::span rest = space.subspan(general);
  part = {rest.data(), rest.size_bytes()};
  if (::ptrace(PTRACE_GETREGSET, thread.tid, NT_X86_XSTATE, &part) != 0) part.iov_len = 0;
  return space.first(general + part.iov_len / sizeof(uint64_t));
}

}  // namespace pi::heapit
