// SPDX-License-Identifier: MIT
// Messages of JProf to its user.
#include "messages.h"

#include <unistd.h>

#include <pi/file_size_signal.h>
#include <pi/files.h>
#include <pi/printable.h>

namespace pi::jprof {

void say(std::string_view text) {
  print("JProf: " + printable(text) + ".\n");
}

// One write(), so that JVM output cannot interleave; errors are ignored.
void print(std::string_view text) {
  const NoFileSizeSignal quiet;
  (void)write_all(STDERR_FILENO, text_bytes(text));
}

}  // namespace pi::jprof
