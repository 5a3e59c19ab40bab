// SPDX-License-Identifier: MIT
// State of one process: a child of fork() begins with a new state.
#include "process.h"

#include <pthread.h>
#include <sys/mman.h>

#include <new>

#include <pi/no_cancel.h>

#include "process_fd.h"

namespace pi::perfutil {
namespace {

constexpr size_t page_bytes = 4096;

// These pages are empty in a child, even when the program has forked it by a system call. All zero
// is the initial state, which keeps it out of the pages that are mapped from the file.
struct alignas(page_bytes) Process {
  std::mutex mutex;
  uint32_t number = 0;  // 0: nothing was called in this process yet
};

constinit Process own;

uint32_t last_number;  // survives in a child

void in_child() {
  const NoCancel off;
  // Only needed when madvise(MADV_WIPEONFORK) has failed.
  new (&own) Process;
  close_inherited_fds();
}

__attribute__((constructor)) void prepare() {
  ::madvise(&own, sizeof own, MADV_WIPEONFORK);
  ::pthread_atfork(nullptr, nullptr, in_child);
}

}  // namespace

std::mutex& call_mutex() {
  return own.mutex;
}

uint32_t process_number() {
  if (own.number == 0) {
    // In a child that was created without fork handlers.
    if (last_number != 0) close_inherited_fds();
    own.number = ++last_number;
  }
  return own.number;
}

}  // namespace pi::perfutil
