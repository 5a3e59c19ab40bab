// SPDX-License-Identifier: MIT
// Reads of stacks that signal handlers have interrupted.
#include "stacks/interrupted_stacks.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <pi/unique_fd.h>

#include "temp_dir.h"

namespace pi::swtrace {
namespace {

using Stack = std::shared_ptr<const InterruptedStack>;
using Place = InterruptedStack::Place;

// A thread that is in a handler, as what is saved and the blocked signals tell.
class InHandler {
 public:
  InHandler() {
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGUSR2);
    ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
    std::memcpy(saved_.data() + signal_frame_mask, &before_, sizeof(uint64_t));
  }
  ~InHandler() { leave(); }
  InHandler(const InHandler&) = delete;
  InHandler& operator=(const InHandler&) = delete;

  void leave() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  // What is saved changes by another signal.
  void interrupt_elsewhere() { saved_[16] = std::byte{1}; }
  Place place(const void* stack, uint32_t pid = static_cast<uint32_t>(::getpid())) const {
    return {pid, pid, reinterpret_cast<uint64_t>(stack), reinterpret_cast<uint64_t>(saved_.data()),
            expected_};
  }
  void expect_now() { expected_ = saved_; }

 private:
  sigset_t before_{};
  std::array<std::byte, signal_frame_bytes> saved_{}, expected_{};
};

bool wait_for(InterruptedStacks& stacks, const Stack& stack) {
  for (int i = 0; i < 10000 && !stack->is_done; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    stacks.check();
  }
  return stack->is_done;
}

void link_to_this_thread(const std::string& proc, uint32_t pid) {
  const std::string directory = fmt::format("{}/{}/task", proc, pid);
  std::filesystem::create_directories(directory);
  std::filesystem::create_symlink(fmt::format("/proc/{0}/task/{0}", ::getpid()),
                                  fmt::format("{}/{}", directory, pid));
}

TEST(SwtraceInterruptedStacks, AStackIsReadUpToItsEnd) {
  void* const pages =
      ::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(::mprotect(static_cast<char*>(pages) + 4096, 4096, PROT_NONE), 0);
  static_cast<char*>(pages)[4095] = 7;
  InterruptedStacks stacks;
  InHandler handler;
  handler.expect_now();
  const Stack stack = stacks.read(handler.place(static_cast<char*>(pages) + 4000));
  ASSERT_TRUE(stack);
  ASSERT_TRUE(wait_for(stacks, stack));
  // Other memory may follow, which the kernel reads for a tracer even if the process may not.
  ASSERT_GE(stack->bytes.size(), 96u);
  EXPECT_EQ(stack->bytes[95], std::byte{7});
  ::munmap(pages, 8192);
}

TEST(SwtraceInterruptedStacks, NothingIsReadWhereNothingIs) {
  InterruptedStacks stacks;
  InHandler handler;
  handler.expect_now();
  const Stack nowhere = stacks.read(handler.place(reinterpret_cast<void*>(64)));
  const Stack kernel = stacks.read(handler.place(reinterpret_cast<void*>(UINT64_MAX - 4096)));
  const Stack none = stacks.read(handler.place(&stacks, UINT32_MAX));
  for (const Stack& stack : {nowhere, kernel, none}) {
    ASSERT_TRUE(stack);
    ASSERT_TRUE(wait_for(stacks, stack));
    EXPECT_TRUE(stack->bytes.empty());
  }
}

// The interrupted functions go on when it has returned, and may be others when it runs again.
TEST(SwtraceInterruptedStacks, AStackWhoseHandlerHasReturnedIsNotAccepted) {
  InterruptedStacks stacks;
  InHandler handler;
  handler.expect_now();
  const auto is_accepted = [&] {
    const Stack stack = stacks.read(handler.place(&stacks));
    return stack && wait_for(stacks, stack) && !stack->bytes.empty();
  };
  EXPECT_TRUE(is_accepted());
  handler.interrupt_elsewhere();
  EXPECT_FALSE(is_accepted());
  handler.expect_now();
  EXPECT_TRUE(is_accepted());
  handler.leave();
  EXPECT_FALSE(is_accepted());
}

// The handler has returned, what it had saved is still there, and the next one begins while the
// signals are read.
TEST(SwtraceInterruptedStacks, TheNextHandlerIsNotTakenForTheOneBefore) {
  const test::TempDir proc;
  const std::string directory = proc.path() + "/7/task/7";
  std::filesystem::create_directories(directory);
  std::filesystem::create_symlink(fmt::format("/proc/{}/mem", ::getpid()), directory + "/mem");
  ASSERT_EQ(::mkfifo((directory + "/status").c_str(), 0600), 0);
  InHandler handler;
  handler.expect_now();
  InterruptedStacks stacks(proc.path());
  const Stack stack = stacks.read(handler.place(&stacks, 7));
  ASSERT_TRUE(stack);
  {
    const UniqueFd status(::open((directory + "/status").c_str(), O_WRONLY | O_CLOEXEC));
    handler.interrupt_elsewhere();
    const std::string blocked = "Name:\tx\nSigBlk:\tffffffffffffffff\n";
    ASSERT_EQ(::write(status.get(), blocked.data(), blocked.size()),
              static_cast<ssize_t>(blocked.size()));
  }
  ASSERT_TRUE(wait_for(stacks, stack));
  EXPECT_TRUE(stack->bytes.empty());
}

TEST(SwtraceInterruptedStacks, ALimitedNumberIsInUse) {
  InterruptedStacks stacks;
  InHandler handler;
  const Place here = handler.place(&stacks);
  std::vector<Stack> used;
  while (Stack stack = stacks.read(here)) {
    used.push_back(std::move(stack));
    ASSERT_LE(used.size(), 1000u);
  }
  for (const Stack& stack : used) ASSERT_TRUE(wait_for(stacks, stack));
  used.clear();
  // The job's own reference ends a moment after the stack is done.
  Stack again;
  for (int i = 0; i < 10000 && !again; ++i) {
    again = stacks.read(here);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(again);
}

// The memory is a pipe that no one writes to: to open it takes for ever.
TEST(SwtraceInterruptedStacks, AProcessWhoseMemoryHangsKeepsNoOtherWaiting) {
  const test::TempDir proc;
  std::filesystem::create_directories(proc.path() + "/7/task/7");
  const std::string pipe = proc.path() + "/7/task/7/mem";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  link_to_this_thread(proc.path(), 8);
  InHandler handler;
  handler.expect_now();
  InterruptedStacks stacks(proc.path(), std::chrono::milliseconds(50));
  std::vector<Stack> hostile;
  for (int i = 0; i < 4; ++i) hostile.push_back(stacks.read(handler.place(&stacks, 7)));
  const Stack other = stacks.read(handler.place(&stacks, 8));
  ASSERT_TRUE(other);
  ASSERT_TRUE(wait_for(stacks, other));
  EXPECT_FALSE(other->bytes.empty());
  // The first hangs; those behind it are not tried.
  EXPECT_FALSE(hostile[0]->is_done);
  for (int i = 1; i < 4; ++i) {
    EXPECT_TRUE(wait_for(stacks, hostile[i]));
    EXPECT_TRUE(hostile[i]->bytes.empty());
  }
  EXPECT_FALSE(stacks.read(handler.place(&stacks, 7)));
  const UniqueFd end(::open(pipe.c_str(), O_WRONLY | O_CLOEXEC));
}

TEST(SwtraceInterruptedStacks, TheMemoryOfALimitedNumberOfProcessesIsOpen) {
  const test::TempDir proc;
  InterruptedStacks stacks(proc.path());
  InHandler handler;
  for (uint32_t pid = 1; pid <= 300; ++pid) {
    link_to_this_thread(proc.path(), pid);
    const Stack stack = stacks.read(handler.place(&stacks, pid));
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
