// SPDX-License-Identifier: MIT
// Descriptors of a library in a program that has closed standard ones: the program, or code that
// it calls, still reads and writes 0, 1 and 2.
#ifndef PI_ABOVE_STANDARD_H
#define PI_ABOVE_STANDARD_H

#include <fcntl.h>
#include <unistd.h>

#include <pi/unique_fd.h>

namespace pi {

// The same file at a number that is no standard one. An error is in errno, as that of open().
inline UniqueFd above_standard(UniqueFd fd) {
  if (!fd || fd.get() > STDERR_FILENO) return fd;
  return UniqueFd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

}  // namespace pi

#endif  // PI_ABOVE_STANDARD_H
