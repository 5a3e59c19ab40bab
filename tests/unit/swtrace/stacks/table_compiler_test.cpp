// SPDX-License-Identifier: MIT
// What the recorder accepts from the child process that compiles tables.
#include "stacks/table_compiler.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <vector>

#include <pi/files.h>

#include "compile/compile_table.h"
#include "first_processor.h"
#include "open_descriptors.h"
#include "temp_dir.h"

namespace pi::swtrace {
namespace {

using test::open_descriptors;
using testing::AnyOf;
using testing::HasSubstr;

UniqueFd opened(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

std::vector<std::byte> own_table() {
  const UniqueFd fd = opened("/proc/self/exe");
  const auto text = read_whole(fd.get(), 1 << 30);
  return *unwind::compile_table(std::as_bytes(std::span(*text)));
}

class SwtraceTableCompiler : public testing::Test {
 protected:
  std::string written(const std::string& name, std::span<const std::byte> bytes) {
    const std::string path = directory_.path() + "/" + name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path;
  }
  // A file that has the child behave so.
  Result<SealedTable> having(TableCompiler& compiler, const std::string& behaviour) {
    return compiler.compile(opened(written(behaviour, text_bytes(behaviour)))).table;
  }
  static std::string reason(const Result<SealedTable>& result) {
    EXPECT_FALSE(result);
    if (result) return {};
    EXPECT_EQ(result.error().code, static_cast<int>(NoTable::failed));
    return result.error().message;
  }

  test::TempDir directory_;
  TableCompiler real_{{SWTRACE_PROGRAM}};
  TableCompiler hostile_{
      {HOSTILE_TABLE_CHILD, std::chrono::milliseconds(1000), std::chrono::milliseconds(500)}};
};

TEST_F(SwtraceTableCompiler, CompilesTheSameTableAsTheLibrary) {
  const auto table = real_.compile(opened("/proc/self/exe")).table;
  ASSERT_TRUE(table) << table.error().message;
  const auto own = own_table();
  const auto truth = unwind::Table::check(own);
  ASSERT_TRUE(truth);
  ASSERT_EQ(table->bytes(), own.size());
  for (size_t row = 0; row < truth->rows(); row += 97)
    EXPECT_EQ(*table->table().find(truth->row_address(row)).cfa,
              *truth->find(truth->row_address(row)).cfa);
}

TEST_F(SwtraceTableCompiler, AFileWithoutATableIsNoFailure) {
  for (const char* text : {"hello", ""}) {
    const auto table = real_.compile(opened(written("file", text_bytes(text)))).table;
    ASSERT_FALSE(table);
    EXPECT_EQ(table.error().code, static_cast<int>(NoTable::has_none));
  }
  EXPECT_THAT(reason(real_.compile(opened("/dev/null")).table), HasSubstr("no file"));
}

TEST_F(SwtraceTableCompiler, OneChildCompilesManyFilesAndLeavesNoDescriptor) {
  const std::string text = written("text", text_bytes("hello"));
  const std::string program = directory_.path() + "/program";  // of the same owner
  std::filesystem::copy_file("/proc/self/exe", program);
  (void)real_.compile(opened(text)).table;
  const size_t before = open_descriptors();
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(real_.compile(opened(program)).table);
    EXPECT_FALSE(real_.compile(opened(text)).table);
  }
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(real_.children(), 1u);
}

TEST_F(SwtraceTableCompiler, AChildCompilesALimitedNumberOfFiles) {
  TableCompiler compiler({SWTRACE_PROGRAM, std::chrono::seconds(15), std::chrono::seconds(5), 3});
  for (int i = 0; i < 7; ++i) EXPECT_FALSE(having(compiler, "hello"));
  EXPECT_EQ(compiler.children(), 3u);
}

TEST_F(SwtraceTableCompiler, FilesOfAnotherOwnerGetAnotherChild) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const std::string path = written("file", text_bytes("hello"));
  for (const uid_t owner : {0, 0, 65534, 65534, 1, 0}) {
    ASSERT_EQ(::chown(path.c_str(), owner, owner), 0);
    EXPECT_FALSE(real_.compile(opened(path)).table);
  }
  EXPECT_EQ(real_.children(), 4u);
}

TEST_F(SwtraceTableCompiler, ATableOutOfBoundsIsRefusedAndAGoodOneIsSealed) {
  auto bytes = own_table();
  const auto good = hostile_.compile(opened(written("good", bytes))).table;
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ(good->bytes(), bytes.size());
  bytes[sizeof(unwind::TableHeader) + 4] = std::byte{0xff};  // the number of the first row's rule
  bytes[sizeof(unwind::TableHeader) + 7] = std::byte{0xff};
  EXPECT_THAT(reason(hostile_.compile(opened(written("bad", bytes))).table), HasSubstr("damaged"));
  EXPECT_THAT(reason(having(hostile_, "empty")), HasSubstr("damaged"));
  EXPECT_THAT(reason(having(hostile_, "mapped")), HasSubstr("damaged"));
}

TEST_F(SwtraceTableCompiler, NonsenseTooMuchAndNothingAreFailures) {
  for (const char* behaviour : {"nothing", "short", "long", "status", "zero", "number"})
    EXPECT_THAT(reason(having(hostile_, behaviour)),
                AnyOf(HasSubstr("nonsense"), HasSubstr("ended")))
        << behaviour;
  for (const char* behaviour : {"hang", "spin"})
    EXPECT_THAT(reason(having(hostile_, behaviour)), HasSubstr("does not answer")) << behaviour;
  EXPECT_TRUE(hostile_.compile(opened(written("good", own_table()))).table);
}

TEST_F(SwtraceTableCompiler, AChildThatDiesCostsItsOwnFileOnly) {
  const std::string good = written("good", own_table());
  for (const auto& [behaviour, message] :
       {std::pair{"exit", "status 7"}, {"crash", "signal 11"}, {"close", "signal 9"}}) {
    EXPECT_TRUE(hostile_.compile(opened(good)).table);
    EXPECT_THAT(reason(having(hostile_, behaviour)), HasSubstr(message));
    EXPECT_TRUE(hostile_.compile(opened(good)).table);
  }
  // It dies when the next file is its turn.
  EXPECT_FALSE(having(hostile_, "later"));
  EXPECT_TRUE(hostile_.compile(opened(good)).table);
  TableCompiler none({"/nonexistent"});
  EXPECT_THAT(reason(none.compile(opened(good)).table), HasSubstr("no process"));
}

// Processes that use this thread's first processor, each in a session of its own: the scheduler may
// give sessions equal shares.
class BusyProcesses {
 public:
  explicit BusyProcesses(int number) {
    for (int i = 0; i < number; ++i) {
      const pid_t pid = ::fork();
      if (pid == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::setsid();
        if (!use_first_processor()) ::_exit(1);
        for (volatile int spins = 0;;) spins = spins + 1;
      }
      pids_.push_back(pid);
    }
  }
  ~BusyProcesses() {
    for (const pid_t pid : pids_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  }
  BusyProcesses(const BusyProcesses&) = delete;
  BusyProcesses& operator=(const BusyProcesses&) = delete;

 private:
  std::vector<pid_t> pids_;
};

// The child waits for a processor for longer than it may use one or sleep.
TEST_F(SwtraceTableCompiler, TimeThatOtherProgramsTakeIsNotTheChilds) {
  const BusyProcesses busy(15);
  const auto begin = std::chrono::steady_clock::now();
  const auto compiled = hostile_.compile(opened(written("queue", text_bytes("queue"))));
  const auto end = std::chrono::steady_clock::now();
  ASSERT_FALSE(compiled.table);
  EXPECT_EQ(compiled.table.error().code, static_cast<int>(NoTable::has_none))
      << compiled.table.error().message;
  EXPECT_GE(compiled.used, std::chrono::milliseconds(150));
  EXPECT_LT(compiled.used, std::chrono::milliseconds(1000));
  EXPECT_GT(end - begin, std::chrono::milliseconds(1000));
}

TEST_F(SwtraceTableCompiler, TheTimeOfAFileIsThatOfAProcessorAndAsleep) {
  EXPECT_THAT(reason(having(hostile_, "hang")), HasSubstr("does not answer"));
  const auto hang = hostile_.compile(opened(written("hang", text_bytes("hang")))).used;
  EXPECT_GE(hang, std::chrono::milliseconds(500));
  EXPECT_LT(hang, std::chrono::milliseconds(1500));
  const auto spin = hostile_.compile(opened(written("spin", text_bytes("spin")))).used;
  EXPECT_GE(spin, std::chrono::milliseconds(1000));
  EXPECT_LT(spin, std::chrono::milliseconds(2000));
}

TEST_F(SwtraceTableCompiler, AnswersAheadAreNotThoseOfTheNextFile) {
  EXPECT_FALSE(having(hostile_, "flood"));
  EXPECT_TRUE(hostile_.compile(opened(written("good", own_table()))).table);
}

TEST_F(SwtraceTableCompiler, DescriptorsInAnAnswerAreNotTaken) {
  (void)having(hostile_, "short");
  const size_t before = open_descriptors();
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(having(hostile_, "descriptors"));
  EXPECT_LE(open_descriptors(), before + 1);  // the socket of the child that lives
}

TEST_F(SwtraceTableCompiler, TheChildHasTheDescriptorsOfItsRequestOnly) {
  const UniqueFd secret = opened("/dev/null");
  ASSERT_EQ(::fcntl(secret.get(), F_SETFD, 0), 0);
  const auto table = having(hostile_, "list");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, static_cast<int>(NoTable::has_none)) << table.error().message;
}

}  // namespace
}  // namespace pi::swtrace
