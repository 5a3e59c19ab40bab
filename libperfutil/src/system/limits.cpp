// SPDX-License-Identifier: MIT
// What to do when a limit of this process prevents something.
#include "limits.h"

#include <cerrno>

#include <fmt/format.h>

#include "perfutil.h"
#include "text.h"

namespace pi::perfutil {

// The C library reports EAGAIN for each cause.
Error no_thread(std::string_view purpose) {
  return {
      PU_ERROR_NOT_ENOUGH_MEMORY,
      fmt::format("Cannot start a thread for {}. Raise the limit of processes with 'ulimit -u', "
                  "or that of memory with 'ulimit -v' and 'ulimit -d'.",
                  purpose)};
}

// The memory is a file to the kernel, so limits of files apply to it.
Error no_buffer_memory(uint64_t bytes, int error) {
  const char* advice = "Ask for smaller buffers.";
  if (error == EFBIG)
    advice = "Raise the limit of file sizes with 'ulimit -f', or ask for smaller buffers.";
  if (error == EMFILE) advice = "Raise the limit of open files with 'ulimit -n'.";
  return {PU_ERROR_NOT_ENOUGH_MEMORY,
          fmt::format("No memory for a trace buffer of {} bytes ({}). {}", bytes, errno_text(error),
                      advice)};
}

}  // namespace pi::perfutil
