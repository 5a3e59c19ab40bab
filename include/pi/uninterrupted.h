// SPDX-License-Identifier: MIT
// System calls that are made again when a signal interrupted them. Not for close(), which has
// closed the descriptor then.
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
