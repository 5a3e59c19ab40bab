// SPDX-License-Identifier: MIT
// The child process that compiles a table: what it can do, and what the recorder accepts from it.
#include "stacks/table_child.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include <pi/files.h>

#include "compile/compile_table.h"
#include "temp_dir.h"

namespace pi::swtrace {
namespace {

using testing::HasSubstr;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

UniqueFd opened(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

class SwtraceTableChild : public testing::Test {
 protected:
  // Has the file "compiled" by a shell script, as by a child that has been taken over.
  Result<SealedTable> by_script(const std::string& script, const std::string& file,
                                std::chrono::milliseconds time = std::chrono::seconds(20)) {
    const std::string program = directory_.path() + "/child";
    std::ofstream(program) << "#!/bin/sh\n" << script << '\n';
    ::chmod(program.c_str(), 0755);
    return compile_in_sandbox(opened(file), {program.c_str(), time});
  }
  std::string written(const std::string& name, std::span<const std::byte> bytes) {
    const std::string path = directory_.path() + "/" + name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path;
  }
  static std::vector<std::byte> own_table() {
    const UniqueFd fd = opened("/proc/self/exe");
    const auto text = read_whole(fd.get(), 1 << 30);
    return *unwind::compile_table(std::as_bytes(std::span(*text)));
  }

  test::TempDir directory_;
};

TEST_F(SwtraceTableChild, CompilesTheSameTableAsTheLibrary) {
  const auto table = compile_in_sandbox(opened("/proc/self/exe"), {SWTRACE_PROGRAM});
  ASSERT_TRUE(table) << table.error().message;
  const auto own = own_table();
  const auto truth = unwind::Table::check(own);
  ASSERT_TRUE(truth);
  ASSERT_EQ(table->bytes(), own.size());
  for (size_t row = 0; row < truth->rows(); row += 97)
    EXPECT_EQ(*table->table().find(truth->row_address(row)).cfa,
              *truth->find(truth->row_address(row)).cfa);
}

TEST_F(SwtraceTableChild, AFileWithoutATableIsNoFailure) {
  const auto text =
      compile_in_sandbox(opened(written("text", text_bytes("hello"))), {SWTRACE_PROGRAM});
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, static_cast<int>(NoTable::has_none));
  const auto empty = compile_in_sandbox(opened(written("empty", {})), {SWTRACE_PROGRAM});
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, static_cast<int>(NoTable::has_none));
}

TEST_F(SwtraceTableChild, ATableOutOfBoundsIsRefusedAndAGoodOneIsSealed) {
  auto bytes = own_table();
  EXPECT_TRUE(by_script("exec cat", written("good", bytes)));
  bytes[sizeof(unwind::TableHeader) + 4] = std::byte{0xff};  // the number of the first row's rule
  bytes[sizeof(unwind::TableHeader) + 7] = std::byte{0xff};
  const auto bad = by_script("exec cat", written("bad", bytes));
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, static_cast<int>(NoTable::failed));
  EXPECT_THAT(bad.error().message, HasSubstr("damaged"));
}

TEST_F(SwtraceTableChild, AChildThatDiesFailsOrHangsIsAFailure) {
  const std::string file = written("file", text_bytes("hello"));
  const auto failed = by_script("exit 2", file);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, static_cast<int>(NoTable::failed));
  EXPECT_THAT(failed.error().message, HasSubstr("status 2"));
  EXPECT_THAT(by_script("kill -SEGV $$", file).error().message, HasSubstr("signal 11"));
  EXPECT_THAT(by_script("exec sleep 100", file, std::chrono::milliseconds(200)).error().message,
              HasSubstr("signal 9"));
  EXPECT_THAT(compile_in_sandbox(opened(file), {"/nonexistent"}).error().message,
              HasSubstr("no process"));
}

TEST_F(SwtraceTableChild, TheChildHasNoOtherDescriptor) {
  const UniqueFd secret = opened("/dev/null");
  ASSERT_EQ(::fcntl(secret.get(), F_SETFD, 0), 0);
  // Of /proc/self/fd itself, ls has one more.
  const auto table = by_script("[ \"$(ls /proc/self/fd | tr '\\n' ' ')\" = '0 1 2 3 ' ] && exit 7",
                               written("file", text_bytes("hello")));
  EXPECT_THAT(table.error().message, HasSubstr("status 7"));
}

// Runs in a process that is confined. Returns how it ended.
template <class Work>
int status_of(Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!confine(1 << 20)) ::_exit(99);
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

TEST_F(SwtraceTableChild, AConfinedProcessCanOnlyAllocateAndWrite) {
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
  // The limit on memory: an allocation fails, and does not use up the machine's.
  EXPECT_EQ(status_of([] {
              void* memory = ::mmap(nullptr, size_t{8} << 30, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
              ::_exit(memory == MAP_FAILED ? 5 : 6);
            }),
            5 << 8);
}

// As when a recorder is killed.
TEST_F(SwtraceTableChild, AConfinedProcessEndsWithItsParent) {
  if (sanitized) GTEST_SKIP() << "sanitizers need more system calls";
  int alive[2];
  ASSERT_EQ(::pipe(alive), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    if (::fork() != 0)
      for (;;) ::pause();
    const bool confined = confine(0);
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

TEST_F(SwtraceTableChild, AConfinedProcessHasNoRights) {
  if (sanitized) GTEST_SKIP() << "sanitizers need more system calls";
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (!confine(0)) ::_exit(99);
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
