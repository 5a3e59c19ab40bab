// SPDX-License-Identifier: MIT
// A limit of the size of files, in place of a full disk: writes are cut there, then refused.
#ifndef PI_TEST_FILE_LIMIT_H
#define PI_TEST_FILE_LIMIT_H

#include <signal.h>
#include <sys/resource.h>

namespace pi::test {

class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    signal_ = ::signal(SIGXFSZ, SIG_IGN);
  }
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, signal_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
  sighandler_t signal_;
};

}  // namespace pi::test

#endif  // PI_TEST_FILE_LIMIT_H
