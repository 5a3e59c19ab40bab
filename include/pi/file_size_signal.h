// SPDX-License-Identifier: MIT
// A library writes into a program's limit of the size of files (ulimit -f): the signal that the
// kernel then sends would end the program, which wrote nothing itself.
#ifndef PI_FILE_SIZE_SIGNAL_H
#define PI_FILE_SIZE_SIGNAL_H

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace pi {

// While it exists, writes of this thread above the limit fail (EFBIG), without SIGXFSZ. Keeps
// errno; no point at which a thread can be cancelled.
class NoFileSizeSignal {
 public:
  NoFileSizeSignal() {
    const int error = errno;
    sigset_t pending, blocked;
    ::sigemptyset(&signal_);
    ::sigaddset(&signal_, SIGXFSZ);
    is_active_ = ::pthread_sigmask(SIG_BLOCK, &signal_, &blocked) == 0 &&
                 ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGXFSZ) == 0;
    was_blocked_ = ::sigismember(&blocked, SIGXFSZ) == 1;
    errno = error;
  }
  ~NoFileSizeSignal() {
    constexpr size_t kernel_set = 8;  // bytes of the kernel's sigset_t
    const int error = errno;
    const timespec none{};
    if (is_active_)
      while (::syscall(SYS_rt_sigtimedwait, &signal_, nullptr, &none, kernel_set) == SIGXFSZ)
        ;
    if (!was_blocked_) (void)::pthread_sigmask(SIG_UNBLOCK, &signal_, nullptr);
    errno = error;
  }
  NoFileSizeSignal(const NoFileSizeSignal&) = delete;
  NoFileSizeSignal& operator=(const NoFileSizeSignal&) = delete;

 private:
  sigset_t signal_{};
  bool is_active_ = false, was_blocked_ = false;
};

}  // namespace pi

#endif  // PI_FILE_SIZE_SIGNAL_H
