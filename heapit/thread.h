// SPDX-License-Identifier: MIT
// What this library knows about each thread, in memory that the loader reserves for it.
#ifndef PI_HEAPIT_THREAD_H
#define PI_HEAPIT_THREAD_H

#include <array>
#include <cerrno>
#include <cstdint>

namespace pi::heapit {

// Memory of a stack, as the kernel has mapped it.
struct StackRange {
  uint64_t begin, end;
};

struct Thread {
  bool inside = false;        // code of this library: what it does itself is not counted
  bool uses_arena = false;    // operator new takes memory of this library
  bool moving_block = false;  // realloc() copies one that is in no list
  uint8_t next_range = 0;
  std::array<StackRange, 16> ranges{};  // coroutines have stacks of their own
};

__attribute__((tls_model("initial-exec"))) inline thread_local Thread this_thread;

// While it exists, this thread is inside. False: it was already, because of a signal handler or of
// what this library calls. Keeps errno.
class Inside {
 public:
  Inside() : entered_(!this_thread.inside), error_(errno) { this_thread.inside = true; }
  ~Inside() {
    if (entered_) this_thread.inside = false;
    errno = error_;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  explicit operator bool() const { return entered_; }

 private:
  const bool entered_;
  const int error_;
};

}  // namespace pi::heapit

#endif  // PI_HEAPIT_THREAD_H
