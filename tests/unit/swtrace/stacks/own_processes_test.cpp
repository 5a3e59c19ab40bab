// SPDX-License-Identifier: MIT
// Which processes belong to root or to this user.
#include "stacks/own_processes.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace pi::swtrace {
namespace {

TEST(SwtraceOwnProcesses, TheUserCountsAndNotWhoOwnsItsDirectory) {
  OwnProcesses processes;
  EXPECT_TRUE(processes.has(1));
  EXPECT_TRUE(processes.has(static_cast<uint32_t>(::getpid())));
  EXPECT_FALSE(processes.has(0x7fffffff));
  if (::geteuid() != 0) GTEST_SKIP() << "needs another user";
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    // Then its directory in /proc belongs to root.
    const bool is_other = ::setresuid(65534, 65534, 65534) == 0 && ::prctl(PR_SET_DUMPABLE, 0) == 0;
    if (is_other && ::write(ready[1], "x", 1) == 1) ::pause();
    ::_exit(1);
  }
  char byte = 0;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_FALSE(processes.has(static_cast<uint32_t>(child)));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

}  // namespace
}  // namespace pi::swtrace
