// SPDX-License-Identifier: MIT
// Log files that are appended to: new, continued, locked, full, removed, written as a whole.
#include "log_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <iterator>

#include "name_log.h"
#include "file_limit.h"
#include "temp_dir.h"

namespace pi::jprof {
namespace {

using test::slurp;
using testing::HasSubstr;

class LogFileTest : public testing::Test {
 protected:
  test::TempDir dir_;
  const std::string path_ = dir_ / "log";
  LogFile log_;
};

TEST_F(LogFileTest, AnExistingLogIsRenamedToOld) {
  dir_.write("log", "older");
  ASSERT_TRUE(log_.open(path_));
  EXPECT_EQ(log_.append("new\n"), 0);
  EXPECT_EQ(slurp(path_), "new\n");
  EXPECT_EQ(slurp(path_ + ".old"), "older");
}

TEST_F(LogFileTest, ItsOwnLogIsAppendedTo) {
  ASSERT_EQ(*log_.open(path_), LogFile::Opened::anew);
  EXPECT_EQ(log_.append("one\n"), 0);
  log_.close();
  ASSERT_EQ(*log_.open(path_), LogFile::Opened::again);
  EXPECT_EQ(log_.append("two\n"), 0);
  EXPECT_EQ(slurp(path_), "one\ntwo\n");
  log_.close();
  std::filesystem::remove(path_);
  EXPECT_EQ(*log_.open(path_), LogFile::Opened::anew);
}

// As in a program that was started without a stdin.
TEST_F(LogFileTest, TheLogIsNoStandardDescriptor) {
  const UniqueFd kept(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  ASSERT_TRUE(kept);
  ::close(STDIN_FILENO);
  const auto opened = log_.open(path_);
  ASSERT_EQ(::dup2(kept.get(), STDIN_FILENO), STDIN_FILENO);
  ASSERT_TRUE(opened);
  EXPECT_GT(log_.descriptor(), STDERR_FILENO);
  EXPECT_EQ(log_.append("text\n"), 0);
  EXPECT_EQ(slurp(path_), "text\n");
  LogFile other;
  EXPECT_FALSE(other.open(path_));  // it is still locked
}

TEST_F(LogFileTest, ALockedLogIsNotChanged) {
  ASSERT_TRUE(log_.open(path_));
  EXPECT_EQ(log_.append("mine\n"), 0);
  LogFile other;
  const auto opened = other.open(path_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, EBUSY);
  EXPECT_THAT(opened.error().message, HasSubstr("LOGPREFIX"));
  EXPECT_EQ(slurp(path_), "mine\n");
}

TEST_F(LogFileTest, ADirectoryIsRefused) {
  std::filesystem::create_directory(path_);
  const auto opened = log_.open(path_);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("is not a regular file"));
  EXPECT_TRUE(std::filesystem::is_directory(path_));
}

TEST_F(LogFileTest, ALinkIsNotFollowed) {
  dir_.write("precious", "as it was");
  std::filesystem::create_symlink(dir_ / "precious", path_);
  EXPECT_FALSE(log_.open(path_));
  EXPECT_EQ(slurp(dir_ / "precious"), "as it was");
}

// What is removed as empty is the log's own file.
TEST_F(LogFileTest, AnotherFileIsNotRemovedAsEmpty) {
  ASSERT_TRUE(log_.open(path_));
  std::filesystem::remove(path_);
  dir_.write("log", "another");
  log_.remove_if_empty();
  EXPECT_EQ(slurp(path_), "another");
  // The empty log before does not stand for one that could not be opened.
  ASSERT_TRUE(log_.open(dir_ / "empty"));
  std::filesystem::create_symlink(dir_ / "log", dir_ / "link");
  EXPECT_FALSE(log_.open(dir_ / "link"));
  log_.remove_if_empty();
  EXPECT_TRUE(std::filesystem::is_symlink(dir_ / "link"));
  LogFile owner;
  ASSERT_TRUE(owner.open(dir_ / "owned"));
  EXPECT_EQ(owner.append("data\n"), 0);
  ASSERT_TRUE(log_.open(dir_ / "empty2"));
  EXPECT_FALSE(log_.open(dir_ / "owned"));
  log_.remove_if_empty();
  EXPECT_EQ(slurp(dir_ / "owned"), "data\n");
}

TEST_F(LogFileTest, AMissingDirectoryIsReportedWithARemedy) {
  const auto opened = log_.open(dir_ / "none/log");
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("none/log"));
  EXPECT_THAT(opened.error().message, HasSubstr("LOGPATH"));
  const auto minima = log_.open(dir_ / "none/minima", LogFile::by_minima_option);
  ASSERT_FALSE(minima);
  EXPECT_THAT(minima.error().message, HasSubstr("with SAVEMINIMA=FILE"));
  EXPECT_THAT(minima.error().message, testing::Not(HasSubstr("LOG")));
}

TEST_F(LogFileTest, ARecordThatDoesNotFitIsNotWritten) {
  ASSERT_TRUE(log_.open(path_));
  EXPECT_EQ(log_.append("fits\n"), 0);
  {
    const test::FileLimit limit(8);
    EXPECT_EQ(log_.append("does not\n"), EFBIG);
    EXPECT_EQ(slurp(path_), "fits\n");
    EXPECT_EQ(log_.append("ok\n"), 0);
  }
  EXPECT_EQ(log_.append("again\n"), 0);
  EXPECT_EQ(slurp(path_), "fits\nok\nagain\n");
}

// A log that is written as a whole is empty until then, also if the process is killed.
TEST_F(LogFileTest, AKilledProcessLeavesNoPartOfAWholeLog) {
  dir_.write("log", "older");
  const pid_t writer = ::fork();
  if (writer == 0) {
    if (log_.open(path_) && log_.begin_whole() == 0 && log_.append("half of it") == 0)
      ::kill(::getpid(), SIGKILL);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(writer, &status, 0), writer);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(slurp(path_), "");
  EXPECT_EQ(slurp(path_ + ".old"), "older");
  const std::filesystem::directory_iterator files(dir_.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 2);
}

TEST_F(LogFileTest, AWholeLogIsThereWhenItIsFinished) {
  ASSERT_TRUE(log_.open(path_));
  ASSERT_EQ(log_.begin_whole(), 0);
  EXPECT_EQ(log_.append("one\n"), 0);
  EXPECT_EQ(slurp(path_), "");
  EXPECT_EQ(log_.append("two\n"), 0);
  EXPECT_EQ(log_.finish(), 0);
  EXPECT_FALSE(log_.is_open());
  EXPECT_EQ(slurp(path_), "one\ntwo\n");
  EXPECT_EQ(*log_.open(path_), LogFile::Opened::again);
}

TEST_F(LogFileTest, OfAWholeLogThatDoesNotFitNothingRemains) {
  ASSERT_TRUE(log_.open(path_));
  ASSERT_EQ(log_.begin_whole(), 0);
  const test::FileLimit limit(4);
  EXPECT_EQ(log_.append("does not fit\n"), EFBIG);
  log_.discard();
  log_.close();
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
}

// As a user does who moves the empty log away.
TEST_F(LogFileTest, AWholeLogTakesNoOtherFilesPlace) {
  ASSERT_TRUE(log_.open(path_));
  ASSERT_EQ(log_.begin_whole(), 0);
  EXPECT_EQ(log_.append("text"), 0);
  std::filesystem::remove(path_);
  EXPECT_EQ(log_.append("text"), ENOENT);
  dir_.write("log", "another");
  EXPECT_EQ(log_.finish(), EEXIST);
  log_.discard();
  log_.close();
  EXPECT_EQ(slurp(path_), "another");
}

TEST_F(LogFileTest, ARemovedLogIsAnError) {
  ASSERT_TRUE(log_.open(path_));
  std::filesystem::remove(path_);
  EXPECT_EQ(log_.append("x\n"), ENOENT);
}

TEST(NameLog, EarlyRecordsAreWrittenAfterTheHead) {
  const test::TempDir dir;
  NameLog log;
  ASSERT_TRUE(log.open(dir / "log"));
  EXPECT_TRUE(log.append("early\n", 1));
  EXPECT_EQ(slurp(dir / "log"), "");
  log.begin("beginning\n", 2);
  EXPECT_TRUE(log.append("late\n", 3));
  EXPECT_EQ(slurp(dir / "log"), "beginning\nearly\nlate\n");
  EXPECT_EQ(log.written(), 2u);
}

TEST(NameLog, LossesAreReportedOnceOnStderrAndInTheLogAfterwards) {
  const test::TempDir dir;
  NameLog log;
  ASSERT_TRUE(log.open(dir / "log"));
  // The captured stderr is a file too and must fit below the limit.
  const std::string beginning = std::string(4000, 'b') + "\n";
  log.begin(beginning, 0);
  testing::internal::CaptureStderr();
  {
    const test::FileLimit limit(4004);
    EXPECT_FALSE(log.append("much too long\n", 0x20));
    EXPECT_FALSE(log.append("this too is\n", 0x10));
  }
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_THAT(printed,
              HasSubstr("names are lost until it can be written again. The JVM continues"));
  EXPECT_EQ(std::count(printed.begin(), printed.end(), '\n'), 1);
  EXPECT_TRUE(log.append("fits\n", 0x30));
  EXPECT_TRUE(log.append("more\n", 0x40));
  log.end("exit", 0x50);
  EXPECT_EQ(slurp(dir / "log"), beginning +
                                    "# lost 2 00000000 00000010 00000000 00000020\nfits\nmore\n"
                                    "# end 00000000 00000050 exit\n");
  EXPECT_EQ(log.written(), 2u);
  EXPECT_EQ(log.lost(), 2u);
}

TEST(NameLog, AHeadThatDidNotFitIsWrittenBeforeTheFirstRecord) {
  const test::TempDir dir;
  NameLog log;
  ASSERT_TRUE(log.open(dir / "log"));
  EXPECT_TRUE(log.append("early\n", 1));
  testing::internal::CaptureStderr();
  {
    const test::FileLimit limit(4);
    EXPECT_FALSE(log.begin("beginning\n", 2));
    EXPECT_FALSE(log.append("event\n", 3));
  }
  testing::internal::GetCapturedStderr();
  EXPECT_TRUE(log.append("fits\n", 4));
  EXPECT_EQ(slurp(dir / "log"), "beginning\n# lost 2 00000000 00000002 00000000 00000003\nfits\n");
}

}  // namespace
}  // namespace pi::jprof
