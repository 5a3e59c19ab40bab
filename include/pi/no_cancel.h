// SPDX-License-Identifier: MIT
// Defers pthread_cancel() while an object exists.
#ifndef PI_NO_CANCEL_H
#define PI_NO_CANCEL_H

#include <pthread.h>

namespace pi {

// A thread that is cancelled in a critical section would never release its locks, and the unwinding
// would end the process at noexcept or catch (...). Async-signal-safe.
class NoCancel {
 public:
  NoCancel() { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  NoCancel(const NoCancel&) = delete;
  NoCancel& operator=(const NoCancel&) = delete;
  // A thread with asynchronous cancellation may be cancelled here.
  ~NoCancel() noexcept(false) { ::pthread_setcancelstate(before_, nullptr); }

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace pi

#endif  // PI_NO_CANCEL_H
