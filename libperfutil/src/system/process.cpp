// SPDX-License-Identifier: MIT
// State of this process alone: a child of fork() begins with a state of its own.
#include "process.h"

#include <pthread.h>
#include <sys/mman.h>

#include <new>

#include <pi/no_cancel.h>

#include "process_fd.h"

namespace pi::perfutil {
namespace {

constexpr size_t page_bytes = 4096;

// A child finds these pages empty, also when it was forked by a system call of the program's own.
// All zero is the initial state, which keeps it out of the pages that are mapped from the file.
struct alignas(page_bytes) Process {
  std::mutex mutex;
  uint32_t number = 0;  // 0: nothing was called in this process yet
};

constinit Process own;

uint32_t last_number;  // survives in a child

void in_child() {
  const NoCancel off;
  // Only where the kernel could not be asked to do it.
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
    // A child that came by a way that runs no fork handlers.
    if (last_number != 0) close_inherited_fds();
    own.number = ++last_number;
  }
  return own.number;
}

}  // namespace pi::perfutil
