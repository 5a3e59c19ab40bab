// SPDX-License-Identifier: MIT
// What JProf tells its user.
#include "messages.h"

#include <unistd.h>

#include <cerrno>

namespace pi::jprof {

void say(std::string_view text) {
  print("JProf: " + std::string(text) + ".\n");
}

// By one write(), so that it is not mixed with the JVM's own output; who does not listen misses it.
void print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(STDERR_FILENO, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    text.remove_prefix(static_cast<size_t>(wrote));
  }
}

}  // namespace pi::jprof
