// SPDX-License-Identifier: MIT
// The threads of a process, stopped by ptrace. They go on when this program ends, whatever ends it.
#ifndef PI_HEAPIT_FROZEN_H
#define PI_HEAPIT_FROZEN_H

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "search_limit.h"
#include "workspace.h"

namespace pi::heapit {

// What a search needs to know about a thread.
struct ThreadPlace {
  uint64_t stack_pointer;  // what is below is not in use
  uint64_t control_block;  // of the C library
};

class Frozen {
 public:
  struct Thread {
    pid_t tid;
    int signal;  // that it was about to get
    bool is_stopped;
  };
  static constexpr size_t most_threads = 1 << 16;

  explicit Frozen(std::span<Thread> space) : threads_(space) {}
  ~Frozen() { resume(); }
  Frozen(const Frozen&) = delete;
  Frozen& operator=(const Frozen&) = delete;

  // All threads but one. Other than searched: the reason why they are not.
  heap_log::Search stop(pid_t pid, pid_t but, const SearchLimit& limit);
  void resume();

  const List<Thread>& threads() const { return threads_; }
  // The registers of a thread, as many as there is space for, and its place. Nothing: it has none.
  static std::span<const uint64_t> registers(const Thread& thread, std::span<uint64_t> space,
                                             ThreadPlace& place);

 private:
  heap_log::Search add_threads(pid_t pid, pid_t but, size_t& added);
  heap_log::Search add(pid_t pid, pid_t tid, size_t& added);
  bool is_known(pid_t tid) const;
  heap_log::Search wait_for_all(size_t first, const SearchLimit& limit);
  static bool has_stopped(Thread& thread);

  List<Thread> threads_;
};

}  // namespace pi::heapit

#endif  // PI_HEAPIT_FROZEN_H
