// SPDX-License-Identifier: MIT
// Files that appear complete or not at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "text/output_file.h"

namespace {

namespace fs = std::filesystem;
using post::OutputFile;

std::string content(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

class OutputFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "output_file_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(OutputFileTest, AppearsOnlyWhenCommitted) {
  const fs::path path = folder_ / "out";
  {
    auto file = OutputFile::create(path, 0644);
    ASSERT_TRUE(file);
    EXPECT_TRUE((*file)->write("hello"));
    EXPECT_FALSE(fs::exists(path));
    EXPECT_TRUE((*file)->commit());
  }
  EXPECT_EQ(content(path), "hello");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, IsRemovedUnlessCommitted) {
  { ASSERT_TRUE(OutputFile::create(folder_ / "out", 0644)); }
  EXPECT_EQ(files(), 0u);
}

TEST_F(OutputFileTest, HasTheRequestedModeLessTheUmask) {
  const mode_t before = ::umask(027);
  for (const mode_t mode : {mode_t{0644}, mode_t{0600}}) {
    const std::string name = folder_ / std::to_string(mode);
    auto file = OutputFile::create(name, mode);
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->commit());
    struct stat status {};
    ASSERT_EQ(::stat(name.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, mode & ~mode_t{027});
  }
  ::umask(before);
}

TEST_F(OutputFileTest, ReplacesALinkInsteadOfFollowingIt) {
  std::ofstream(folder_ / "precious") << "keep";
  fs::create_symlink(folder_ / "precious", folder_ / "out");
  auto file = OutputFile::create(folder_ / "out", 0644);
  ASSERT_TRUE(file);
  (*file)->write("new");
  ASSERT_TRUE((*file)->commit());
  EXPECT_EQ(content(folder_ / "precious"), "keep");
  EXPECT_FALSE(fs::is_symlink(folder_ / "out"));
  EXPECT_EQ(content(folder_ / "out"), "new");
}

TEST_F(OutputFileTest, ReportsWhyItCannotBeCreated) {
  const auto file = OutputFile::create(folder_ / "missing" / "out", 0644);
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, testing::HasSubstr("No such file or directory"));
  EXPECT_THAT(file.error().message, testing::HasSubstr("-o"));
}

TEST_F(OutputFileTest, ReportsWhenItCannotReplace) {
  fs::create_directory(folder_ / "out");
  auto file = OutputFile::create(folder_ / "out", 0644);
  ASSERT_TRUE(file);
  const pi::Status status = (*file)->commit();
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, testing::HasSubstr("cannot replace"));
  EXPECT_EQ(files(), 1u);
}

}  // namespace
