// SPDX-License-Identifier: MIT
// Files that are renamed when they are complete: order of sync and rename.
#include <pi/new_file.h>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <pi/files.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::vector<std::string> steps;
int fsync_error = 0;

}  // namespace

// These override the C library's functions.
extern "C" int fsync(int fd) {
  struct stat status {};
  ::fstat(fd, &status);
  steps.emplace_back(S_ISDIR(status.st_mode) ? "sync directory"
                     : status.st_size == 0   ? "sync empty file"
                                             : "sync file");
  if (fsync_error == 0) return static_cast<int>(::syscall(SYS_fsync, fd));
  errno = fsync_error;
  return -1;
}

extern "C" int renameat(int from_directory, const char* from, int to_directory, const char* to) {
  steps.emplace_back("rename");
  return static_cast<int>(::syscall(SYS_renameat, from_directory, from, to_directory, to));
}

extern "C" int linkat(int from_directory, const char* from, int to_directory, const char* to,
                      int flags) {
  steps.emplace_back("link");
  return static_cast<int>(::syscall(SYS_linkat, from_directory, from, to_directory, to, flags));
}

namespace {

using namespace pi;

class NewFileTest : public testing::Test {
 protected:
  NewFileTest() {
    directory_ = testing::TempDir() + "new_file_XXXXXX";
    EXPECT_NE(::mkdtemp(directory_.data()), nullptr);
    steps.clear();
    fsync_error = 0;
  }
  ~NewFileTest() override { std::filesystem::remove_all(directory_); }
  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  static std::string content(const std::string& name) {
    std::stringstream text;
    text << std::ifstream(name).rdbuf();
    return text.str();
  }
  size_t files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(directory_), {}));
  }
  std::string directory_;
};

TEST_F(NewFileTest, AnUnfinishedFileHasNoNameSoThatNothingRemainsAfterSigkill) {
  if (const UniqueFd fd(::open(directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)); !fd)
    GTEST_SKIP() << "this file system has no files without a name";
  auto file = NewFile::create(path("report"), ".new-", 0640);
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(write_all(file->fd(), text_bytes("text")), 0);
  EXPECT_EQ(files(), 0u);
  ASSERT_EQ(file->publish(false), 0);
  EXPECT_EQ(files(), 1u);
  ASSERT_EQ(write_all(file->fd(), text_bytes(" more")), 0);
  ASSERT_EQ(file->commit(), 0);
  EXPECT_EQ(content(path("report")), "text more");
}

TEST_F(NewFileTest, TheFileIsSyncedBeforeItIsRenamed) {
  auto file = NewFile::create(path("report"), ".new-", 0640);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_FALSE(std::filesystem::exists(path("report")));
  ASSERT_EQ(write_all(file->fd(), text_bytes("text")), 0);
  ASSERT_EQ(file->commit(), 0);
  // A file that has no name at first is synced again when it has one.
  EXPECT_THAT(steps, testing::AnyOf(testing::ElementsAre("sync file", "rename", "sync directory"),
                                    testing::ElementsAre("sync file", "link", "sync file", "rename",
                                                         "sync directory")));
  EXPECT_EQ(content(path("report")), "text");
  EXPECT_EQ(files(), 1u);
  struct stat status {};
  ASSERT_EQ(::stat(path("report").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
}

TEST_F(NewFileTest, AFailedSyncReplacesNothing) {
  std::ofstream(path("report")) << "old";
  {
    auto file = NewFile::create(path("report"), ".new-", 0600);
    ASSERT_TRUE(file);
    fsync_error = EIO;
    EXPECT_EQ(file->commit(), EIO);
  }
  EXPECT_EQ(content(path("report")), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(NewFileTest, AFileThatCannotBeRenamedIsRemoved) {
  ASSERT_EQ(::mkdir(path("report").c_str(), 0700), 0);
  auto file = NewFile::create(path("report"), ".new-", 0600);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->complete(), 0);
  EXPECT_EQ(file->commit(), EISDIR);
  EXPECT_EQ(files(), 1u);
}

TEST_F(NewFileTest, AFileSystemThatCannotSyncIsNoError) {
  auto file = NewFile::create(path("report"), ".new-", 0600);
  ASSERT_TRUE(file);
  fsync_error = EINVAL;
  EXPECT_EQ(file->commit(), 0);
  EXPECT_TRUE(std::filesystem::exists(path("report")));
}

TEST_F(NewFileTest, AnUncommittedFileIsRemoved) {
  { ASSERT_TRUE(NewFile::create(path("report"), ".new-", 0600)); }
  EXPECT_EQ(files(), 0u);
}

TEST_F(NewFileTest, ASymbolicLinkIsReplacedAndNotFollowed) {
  std::ofstream(path("other")) << "other";
  ASSERT_EQ(::symlink("other", path("report").c_str()), 0);
  auto file = NewFile::create(path("report"), ".new-", 0600);
  ASSERT_TRUE(file);
  ASSERT_EQ(file->commit(), 0);
  EXPECT_EQ(content(path("other")), "other");
  EXPECT_FALSE(std::filesystem::is_symlink(path("report")));
}

TEST_F(NewFileTest, ADeviceAPipeAndALinkToOneAreRefused) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/null", path("link"));
  for (const std::string& name : {path("pipe"), path("link"), std::string("/dev/null")}) {
    const auto file = NewFile::create(name, ".new-", 0600);
    ASSERT_FALSE(file) << name;
    EXPECT_EQ(file.error().code, not_regular) << name;
  }
  EXPECT_TRUE(std::filesystem::is_fifo(path("pipe")));
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
}

TEST_F(NewFileTest, APublishedFileGetsItsNameAtOnceAndKeepsTheOldFile) {
  std::ofstream(path("trace")) << "old";
  auto file = NewFile::create(path("trace"), ".new-", 0600);
  ASSERT_TRUE(file);
  ASSERT_EQ(file->publish(true), 0);
  ASSERT_EQ(write_all(file->fd(), text_bytes("new")), 0);
  EXPECT_EQ(content(path("trace")), "new");
  EXPECT_EQ(content(path("trace.old")), "old");
  ASSERT_EQ(file->commit(), 0);
  EXPECT_EQ(content(path("trace")), "new");
}

TEST_F(NewFileTest, TheUmaskAppliesOnlyOnRequest) {
  const mode_t before = ::umask(027);
  auto exact = NewFile::create(path("exact"), ".new-", 0666);
  auto usual = NewFile::create(path("usual"), ".new-", 0666, Umask::applied);
  ::umask(before);
  ASSERT_TRUE(exact && usual);
  struct stat status {};
  ASSERT_EQ(::fstat(exact->fd(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0666u);
  ASSERT_EQ(::fstat(usual->fd(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
}

TEST_F(NewFileTest, AFileInAnOpenDirectoryStaysThereWhenThePathChanges) {
  const std::string made = path("made"), moved = path("moved");
  ASSERT_EQ(::mkdir(made.c_str(), 0700), 0);
  const UniqueFd directory(::open(made.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::filesystem::rename(made, moved);
  std::filesystem::create_directory_symlink("/nowhere", made);
  std::ofstream(moved + "/log") << "old";
  auto file = NewFile::create_in(directory.get(), "log", ".new-", 0600);
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(write_all(file->fd(), text_bytes("new")), 0);
  steps.clear();
  ASSERT_EQ(file->commit(true), 0);
  EXPECT_THAT(
      steps, testing::AnyOf(testing::ElementsAre("sync file", "rename", "rename", "sync directory"),
                            testing::ElementsAre("sync file", "link", "sync file", "rename",
                                                 "rename", "sync directory")));
  EXPECT_EQ(content(moved + "/log"), "new");
  EXPECT_EQ(content(moved + "/log.old"), "old");
}

TEST_F(NewFileTest, ADirectoryNameIsRefused) {
  for (const std::string& name : {directory_ + "/", directory_ + "/.", std::string("..")})
    EXPECT_EQ(NewFile::create(name, ".new-", 0600).error().code, EISDIR) << name;
  EXPECT_EQ(NewFile::create(path("missing/report"), ".new-", 0600).error().code, ENOENT);
}

}  // namespace
