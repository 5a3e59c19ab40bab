// SPDX-License-Identifier: MIT
// Descriptors for one process only: a child of fork() closes those that it inherits.
#ifndef PI_PERFUTIL_PROCESS_FD_H
#define PI_PERFUTIL_PROCESS_FD_H

#include <pi/unique_fd.h>

namespace pi::perfutil {

// A child that kept its parent's device, perf events or locks would keep the parent's trace alive
// when the parent has died, and could change it.
struct ProcessFdWatch {
  static void taken(int fd);
  // False when this process is a child and has closed the descriptor at fork().
  static bool left(int fd);
};

// For every descriptor that libperfutil keeps open between two calls.
using ProcessFd = BasicUniqueFd<ProcessFdWatch>;

// In the child: closes what the parent's ProcessFd objects own. Async-signal-safe.
void close_inherited_fds();

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PROCESS_FD_H
