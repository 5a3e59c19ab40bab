// SPDX-License-Identifier: MIT
// What JProf tells its user.
#include "messages.h"

#include <unistd.h>

#include <pi/files.h>

namespace pi::jprof {

void say(std::string_view text) {
  print("JProf: " + std::string(text) + ".\n");
}

// By one write(), so that it is not mixed with the JVM's own output; who does not listen misses it.
void print(std::string_view text) {
  (void)write_all(STDERR_FILENO, text_bytes(text));
}

}  // namespace pi::jprof
