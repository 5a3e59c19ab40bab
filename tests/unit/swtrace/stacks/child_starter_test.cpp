// SPDX-License-Identifier: MIT
// Child processes that are started without copies of this process's descriptors.
#include "stacks/child_starter.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <pi/files.h>

namespace pi::swtrace {
namespace {

using testing::ElementsAre;

// What each thread of that name has open.
std::vector<size_t> descriptors_of_starters() {
  std::vector<size_t> all;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name != starter_name) continue;
    const std::filesystem::directory_iterator open(task.path() / "fd");
    all.push_back(static_cast<size_t>(std::distance(begin(open), end(open))));
  }
  return all;
}

struct Pair {
  Pair() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    own = UniqueFd(ends[0]);
    childs = UniqueFd(ends[1]);
  }
  UniqueFd own, childs;
};

// Starts cat, whose input ends at once.
void start_cat() {
  Pair pair;
  const auto child = start_child("/bin/cat", "-", pair.childs);
  ASSERT_TRUE(child) << child.error().message;
  pair.own.reset();
  pair.childs.reset();
  int status = -1;
  EXPECT_EQ(::waitpid(*child, &status, 0), *child);
  EXPECT_EQ(status, 0);
}

// What the child has: SwtraceTableCompiler.TheChildHasTheDescriptorsOfItsRequestOnly.
TEST(SwtraceChildStarter, DescriptorsOfThisProcessAreNeitherCopiedNorClosed) {
  for (int i = 0; i < 3; ++i) {
    const UniqueFd file(::open("/proc/self/exe", O_RDONLY));  // without O_CLOEXEC
    start_cat();
    EXPECT_GE(::fcntl(file.get(), F_GETFD), 0);
    EXPECT_THAT(descriptors_of_starters(), ElementsAre(0));
  }
}

TEST(SwtraceChildStarter, SeveralThreadsStartTheirOwn) {
  std::array<std::thread, 4> threads;
  for (std::thread& thread : threads)
    thread = std::thread([] {
      for (int i = 0; i < 20; ++i) start_cat();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(descriptors_of_starters(), ElementsAre(0));
}

// As in containers: pidfd_getfd() fails with EPERM.
void forbid_taking_descriptors() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_getfd, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog code{static_cast<unsigned short>(std::size(program)), program};
  EXPECT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  EXPECT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &code, 0, 0), 0);
}

TEST(SwtraceChildStarter, WhereDescriptorsCannotBeTakenTheCallerStartsIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        forbid_taking_descriptors();
        start_cat();
        ::_exit(testing::Test::HasFailure() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(SwtraceChildStarter, WhatCannotBeStartedIsAnError) {
  const Pair pair;
  const auto missing = start_child("/nonexistent", "", pair.childs);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ENOENT);
  const auto closed = start_child("/bin/cat", "-", UniqueFd());
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code, EBADF);
}

}  // namespace
}  // namespace pi::swtrace
