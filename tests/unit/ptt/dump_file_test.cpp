// SPDX-License-Identifier: MIT
// The file of ptt dump -f: only whole dumps, also when the disk is full.
#include "dump_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

using pi::ptt::DumpFile;

class DumpFileTest : public testing::Test {
 protected:
  DumpFileTest() : directory(testing::TempDir() + "dump_file_XXXXXX") {
    EXPECT_NE(::mkdtemp(directory.data()), nullptr);
    path = directory + "/ptt.out";
  }
  ~DumpFileTest() override { std::filesystem::remove_all(directory); }
  static std::string content(const std::string& name) {
    std::stringstream text;
    text << std::ifstream(name).rdbuf();
    return text.str();
  }
  size_t files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(directory), {}));
  }
  std::string directory, path;
};

// A file may have at most this size, as on a full disk.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    signal_ = ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, signal_);
  }

 private:
  rlimit before_{};
  void (*signal_)(int) = nullptr;
};

TEST_F(DumpFileTest, TheFileGrowsByWholeDumpsUnderItsName) {
  std::ofstream(path) << "old";
  auto out = DumpFile::create(path);
  ASSERT_TRUE(out);
  EXPECT_EQ(content(path), "old");
  EXPECT_EQ(out->add("one\n"), 0);
  EXPECT_EQ(content(path), "one\n");
  EXPECT_EQ(out->add("two\n"), 0);
  EXPECT_EQ(out->finish(), 0);
  EXPECT_EQ(content(path), "one\ntwo\n");
  EXPECT_EQ(files(), 1u);
}

TEST_F(DumpFileTest, ADumpThatDoesNotFitIsNotInTheFile) {
  const SizeLimit limit(10);
  auto out = DumpFile::create(path);
  ASSERT_TRUE(out);
  EXPECT_EQ(out->add("first\n"), 0);
  EXPECT_EQ(out->add("second\n"), EFBIG);
  EXPECT_EQ(content(path), "first\n");
}

TEST_F(DumpFileTest, AFirstDumpThatDoesNotFitLeavesTheOldFileAndNoOther) {
  std::ofstream(path) << "old";
  {
    const SizeLimit limit(2);
    auto out = DumpFile::create(path);
    ASSERT_TRUE(out);
    EXPECT_EQ(out->add("first\n"), EFBIG);
  }
  EXPECT_EQ(content(path), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(DumpFileTest, ALinkIsReplacedAndNotFollowed) {
  std::ofstream(directory + "/precious") << "contents";
  std::filesystem::create_symlink("precious", path);
  auto out = DumpFile::create(path);
  ASSERT_TRUE(out);
  EXPECT_EQ(out->add("dump\n"), 0);
  EXPECT_EQ(content(directory + "/precious"), "contents");
  EXPECT_FALSE(std::filesystem::is_symlink(path));
}

}  // namespace
