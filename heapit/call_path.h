// SPDX-License-Identifier: MIT
// A call path, and what is known about the code in it.
#ifndef PI_HEAPIT_CALL_PATH_H
#define PI_HEAPIT_CALL_PATH_H

#include <array>
#include <cstddef>
#include <cstdint>

#include <pi/heap_log.h>

#include "log.h"

namespace pi::heapit {

struct Stack {
  size_t frames = 0;
  heap_log::PathEnd end = heap_log::unknown;
  std::array<uint64_t, heap_log::max_frames> addresses;  // innermost first
};

// The code of a process.
class CodeFiles {
 public:
  // Changes when code is unloaded: other code may be at its addresses from then on.
  virtual uint64_t generation() const = 0;
  // The log gets a record of the file with this code, unless it has one. One thread at a time.
  virtual void log_file_of(uint64_t address, Log& log) = 0;

 protected:
  ~CodeFiles() = default;
};

}  // namespace pi::heapit

#endif  // PI_HEAPIT_CALL_PATH_H
