// SPDX-License-Identifier: MIT
// A process whose root directory is another one, as in a container.
#ifndef TEST_SUPPORT_ROOTED_PROCESS_H
#define TEST_SUPPORT_ROOTED_PROCESS_H

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

namespace test_support {

class RootedProcess {
 public:
  explicit RootedProcess(const std::string& root) {
    int ends[2];
    if (::pipe(ends) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      // Without root's rights a user namespace permits chroot().
      if ((::geteuid() != 0 && ::unshare(CLONE_NEWUSER) != 0) || ::chroot(root.c_str()) != 0)
        ::_exit(1);
      (void)!::write(ends[1], "", 1);
      for (;;) ::pause();
    }
    ::close(ends[1]);
    char byte = 0;
    ready_ = ::read(ends[0], &byte, 1) == 1;
    ::close(ends[0]);
  }
  RootedProcess(const RootedProcess&) = delete;
  RootedProcess& operator=(const RootedProcess&) = delete;
  ~RootedProcess() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  // False if this user may not create such a process.
  bool ready() const { return ready_; }
  pid_t pid() const { return pid_; }
  std::string root() const { return "/proc/" + std::to_string(pid_) + "/root"; }

 private:
  pid_t pid_ = -1;
  bool ready_ = false;
};

}  // namespace test_support

#endif  // TEST_SUPPORT_ROOTED_PROCESS_H
