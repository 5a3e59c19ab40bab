// SPDX-License-Identifier: MIT
// Keeps pthread_cancel() away from a stretch of code: it waits until the stretch is over.
#ifndef PI_NO_CANCEL_H
#define PI_NO_CANCEL_H

#include <pthread.h>

namespace pi {

// A thread that is cancelled in the middle would keep locks for ever, and the unwinding would end
// the process where it meets noexcept or catch (...). Async-signal-safe.
class NoCancel {
 public:
  NoCancel() { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  NoCancel(const NoCancel&) = delete;
  NoCancel& operator=(const NoCancel&) = delete;
  // A thread whose cancellation type is asynchronous may be cancelled in here.
  ~NoCancel() noexcept(false) { ::pthread_setcancelstate(before_, nullptr); }

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace pi

#endif  // PI_NO_CANCEL_H
