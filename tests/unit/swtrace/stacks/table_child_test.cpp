// SPDX-License-Identifier: MIT
// The child process that compiles tables: what it can do.
#include "stacks/table_child.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace pi::swtrace {
namespace {

using testing::HasSubstr;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

// Runs in a process that is confined. Returns how it ended.
template <class Work>
int status_of(Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!confine()) ::_exit(99);
    work();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

bool is_killed(int status) {
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

void* allocated(size_t bytes) {
  return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                -1, 0);
}

TEST(SwtraceTableChild, AConfinedProcessCanOnlyAllocateReceiveAndWrite) {
  if (sanitized) GTEST_SKIP() << "sanitizers need more system calls";
  EXPECT_EQ(status_of([] {
              std::vector<char> memory(8 << 20, 'x');
              if (memory[5] != 'x') ::_exit(1);
            }),
            0);
  EXPECT_TRUE(is_killed(status_of([] { ::open("/etc/passwd", O_RDONLY); })));
  EXPECT_TRUE(is_killed(status_of([] { ::kill(::getppid(), 0); })));
  EXPECT_TRUE(is_killed(status_of(
      [] { ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); })));
  EXPECT_TRUE(is_killed(status_of(
      [] { ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); })));
  EXPECT_TRUE(is_killed(status_of([] {
    const rlimit both{1 << 20, 1 << 20};
    ::setrlimit(RLIMIT_CPU, &both);
  })));
  EXPECT_TRUE(is_killed(status_of([] { ::prlimit(1, RLIMIT_DATA, nullptr, nullptr); })));
  // The limit on memory: an allocation fails, and does not use up the machine's.
  EXPECT_EQ(status_of([] { ::_exit(allocated(size_t{8} << 30) == MAP_FAILED ? 5 : 6); }), 5 << 8);
}

TEST(SwtraceTableChild, TheMemoryForAFileGrowsWithItUpToALimit) {
  if (sanitized) GTEST_SKIP() << "sanitizers need more memory";
  EXPECT_EQ(status_of([] {
              limit_memory(1 << 20);
              if (allocated(size_t{300} << 20) != MAP_FAILED) ::_exit(1);
              limit_memory(50 << 20);
              if (allocated(size_t{300} << 20) == MAP_FAILED) ::_exit(2);
              limit_memory(uint64_t{1} << 50);
              ::_exit(allocated(size_t{1000} << 20) == MAP_FAILED ? 5 : 6);
            }),
            5 << 8);
}

// As when a recorder is killed.
TEST(SwtraceTableChild, AConfinedProcessEndsWithItsParent) {
  if (sanitized) GTEST_SKIP() << "sanitizers need more system calls";
  int alive[2];
  ASSERT_EQ(::pipe(alive), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    if (::fork() != 0)
      for (;;) ::pause();
    const bool confined = confine();
    if (::write(alive[1], confined ? "y" : "n", 1) != 1) ::_exit(98);
    for (;;) __asm__ volatile("" ::: "memory");
  }
  ::close(alive[1]);
  char byte = 0;
  ASSERT_EQ(::read(alive[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  pollfd wait{alive[0], POLLIN, 0};
  ASSERT_EQ(::poll(&wait, 1, 5000), 1);
  EXPECT_EQ(::read(alive[0], &byte, 1), 0);
  ::close(alive[0]);
}

TEST(SwtraceTableChild, AConfinedProcessHasNoRights) {
  if (sanitized) GTEST_SKIP() << "sanitizers need more system calls";
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (!confine()) ::_exit(99);
    if (::write(ready[1], "x", 1) != 1) ::_exit(98);
    for (;;) __asm__ volatile("" ::: "memory");
  }
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  std::stringstream text;
  text << std::ifstream("/proc/" + std::to_string(child) + "/status").rdbuf();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_THAT(text.str(), HasSubstr("CapPrm:\t0000000000000000"));
  EXPECT_THAT(text.str(), HasSubstr("NoNewPrivs:\t1"));
  EXPECT_THAT(text.str(), HasSubstr("Seccomp:\t2"));
  if (::geteuid() == 0) {
    EXPECT_THAT(text.str(), testing::Not(HasSubstr("Uid:\t0")));
    EXPECT_THAT(text.str(), HasSubstr("Groups:\t \n"));
  }
}

}  // namespace
}  // namespace pi::swtrace
