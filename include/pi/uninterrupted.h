// SPDX-License-Identifier: MIT
// Repeats a system call that a signal has interrupted. Not for close(), which has closed the
// descriptor in that case.
#ifndef PI_UNINTERRUPTED_H
#define PI_UNINTERRUPTED_H

#include <cerrno>

namespace pi {

// call: makes the system call and returns its result, -1 for an error in errno.
template <class Call>
auto uninterrupted(Call call) {
  for (;;) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

}  // namespace pi

#endif  // PI_UNINTERRUPTED_H
