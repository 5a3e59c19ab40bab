// SPDX-License-Identifier: MIT
// Reads of stacks that signal handlers have interrupted.
#include "stacks/interrupted_stacks.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <pi/unique_fd.h>

#include "temp_dir.h"

namespace pi::swtrace {
namespace {

using Stack = std::shared_ptr<const InterruptedStack>;

const auto own_pid = static_cast<uint32_t>(::getpid());

bool wait_for(InterruptedStacks& stacks, const Stack& stack) {
  for (int i = 0; i < 10000 && !stack->is_done; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    stacks.check();
  }
  return stack->is_done;
}

TEST(SwtraceInterruptedStacks, AStackIsReadUpToItsEnd) {
  void* const pages =
      ::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(::mprotect(static_cast<char*>(pages) + 4096, 4096, PROT_NONE), 0);
  static_cast<char*>(pages)[4095] = 7;
  InterruptedStacks stacks;
  const Stack stack = stacks.read(own_pid, reinterpret_cast<uint64_t>(pages) + 4000);
  ASSERT_TRUE(stack);
  ASSERT_TRUE(wait_for(stacks, stack));
  // Other memory may follow, which the kernel reads for a tracer even if the process may not.
  ASSERT_GE(stack->bytes.size(), 96u);
  EXPECT_EQ(stack->bytes[95], std::byte{7});
  ::munmap(pages, 8192);
}

TEST(SwtraceInterruptedStacks, NothingIsReadWhereNothingIs) {
  InterruptedStacks stacks;
  const Stack nowhere = stacks.read(own_pid, 64);
  const Stack kernel = stacks.read(own_pid, UINT64_MAX - 4096);
  const Stack none = stacks.read(UINT32_MAX, 4096);
  for (const Stack& stack : {nowhere, kernel, none}) {
    ASSERT_TRUE(stack);
    ASSERT_TRUE(wait_for(stacks, stack));
    EXPECT_TRUE(stack->bytes.empty());
  }
}

TEST(SwtraceInterruptedStacks, ALimitedNumberIsInUse) {
  InterruptedStacks stacks;
  const auto here = reinterpret_cast<uint64_t>(&stacks);
  std::vector<Stack> used;
  while (Stack stack = stacks.read(own_pid, here)) {
    used.push_back(std::move(stack));
    ASSERT_LE(used.size(), 1000u);
  }
  for (const Stack& stack : used) ASSERT_TRUE(wait_for(stacks, stack));
  used.clear();
  // The job's own reference ends a moment after the stack is done.
  Stack again;
  for (int i = 0; i < 10000 && !again; ++i) {
    again = stacks.read(own_pid, here);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(again);
}

// The memory is a pipe that no one writes to: to open it takes for ever.
TEST(SwtraceInterruptedStacks, AProcessWhoseMemoryHangsKeepsNoOtherWaiting) {
  const test::TempDir proc;
  for (const char* pid : {"7", "8"}) std::filesystem::create_directory(proc.path() + "/" + pid);
  const std::string pipe = proc.path() + "/7/mem";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_symlink("/proc/self/mem", proc.path() + "/8/mem");
  InterruptedStacks stacks(proc.path(), std::chrono::milliseconds(50));
  std::vector<Stack> hostile;
  for (int i = 0; i < 4; ++i) hostile.push_back(stacks.read(7, 4096));
  const Stack other = stacks.read(8, reinterpret_cast<uint64_t>(&stacks));
  ASSERT_TRUE(other);
  ASSERT_TRUE(wait_for(stacks, other));
  EXPECT_FALSE(other->bytes.empty());
  // The first hangs; those behind it are not tried.
  EXPECT_FALSE(hostile[0]->is_done);
  for (int i = 1; i < 4; ++i) {
    EXPECT_TRUE(wait_for(stacks, hostile[i]));
    EXPECT_TRUE(hostile[i]->bytes.empty());
  }
  EXPECT_FALSE(stacks.read(7, 4096));
  const UniqueFd end(::open(pipe.c_str(), O_WRONLY | O_CLOEXEC));
}

TEST(SwtraceInterruptedStacks, TheMemoryOfALimitedNumberOfProcessesIsOpen) {
  const test::TempDir proc;
  InterruptedStacks stacks(proc.path());
  for (uint32_t pid = 1; pid <= 300; ++pid) {
    std::filesystem::create_directory(fmt::format("{}/{}", proc.path(), pid));
    std::filesystem::create_symlink("/proc/self/mem", fmt::format("{}/{}/mem", proc.path(), pid));
    const Stack stack = stacks.read(pid, reinterpret_cast<uint64_t>(&stacks));
    ASSERT_TRUE(!stack || wait_for(stacks, stack));
  }
  size_t open = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    open += std::filesystem::read_symlink(entry, error).native().ends_with("/mem") ? 1 : 0;
  }
  EXPECT_GT(open, 0u);
  EXPECT_LE(open, 64u);
}

}  // namespace
}  // namespace pi::swtrace
