// SPDX-License-Identifier: MIT
// Source files: the paths at which they are found, and files that are not read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <read/budgets.h>
#include <read/source_files.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace {

using post::SourceFiles;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto of_root = SourceFiles::Program::of_root;

class SourceFilesTest : public testing::Test {
 protected:
  SourceFilesTest() : root(testing::TempDir() + "source_files_XXXXXX") {
    EXPECT_NE(::mkdtemp(root.data()), nullptr);
  }
  ~SourceFilesTest() override { std::filesystem::remove_all(root); }
  std::string put(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root + "/" + path).parent_path());
    std::ofstream(root + "/" + path) << text;
    return root + "/" + path;
  }
  std::string root;
};

TEST(PathTails, AreTheLongestFirstAndLeaveNoDirectory) {
  EXPECT_THAT(post::path_tails("/a/../b//./c.h"), ElementsAre("b/c.h", "c.h"));
  EXPECT_THAT(post::path_tails("../../etc/passwd"), ElementsAre("etc/passwd", "passwd"));
  EXPECT_TRUE(post::path_tails("/..").empty());
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "/d";
  EXPECT_EQ(post::path_tails(deep).size(), post::budgets::source_tails);
}

// A file that all may read below a directory that only its owner may search.
TEST_F(SourceFilesTest, ForOthersProgramsRootReadsOnlyWhatEveryUserCanReach) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const std::string secret = put("private/secret.c", "secret");
  std::filesystem::permissions(root, std::filesystem::perms(0755));
  std::filesystem::permissions(root + "/private", std::filesystem::perms(0700));
  SourceFiles files({});
  EXPECT_EQ(files.find(secret, of_root).line(1), "secret");
  EXPECT_FALSE(files.find(secret, SourceFiles::Program::of_others).found());
  EXPECT_THAT(files.problem(secret, SourceFiles::Program::of_others),
              HasSubstr("not every user may read it"));
  std::filesystem::permissions(root + "/private", std::filesystem::perms(0711));
  EXPECT_TRUE(SourceFiles({}).find(secret, SourceFiles::Program::of_others).found());
}

TEST_F(SourceFilesTest, LinesHaveNoLineFeed) {
  SourceFiles files({});
  const post::SourceText& text = files.find(put("a.c", "one\r\n\nthree"), of_root);
  ASSERT_TRUE(text.found());
  EXPECT_EQ(text.lines(), 3u);
  EXPECT_EQ(text.line(1), "one");
  EXPECT_EQ(text.line(2), "");
  EXPECT_EQ(text.line(3), "three");
  EXPECT_EQ(text.line(0), "");
  EXPECT_EQ(text.line(4), "");
}

TEST_F(SourceFilesTest, TheLongestTailWinsThenTheFirstDirectory) {
  put("one/util.c", "one");
  put("two/lib/util.c", "two");
  put("three/lib/util.c", "three");
  SourceFiles files({root + "/one", root + "/two", root + "/three"});
  EXPECT_EQ(files.find("/gone/lib/util.c", of_root).line(1), "two");
  EXPECT_EQ(files.find("/gone/other/util.c", of_root).line(1), "one");
}

TEST_F(SourceFilesTest, AnAbsolutePathIsTriedFirstAndARelativeOneIsNotUsed) {
  const std::string own = put("here/a.c", "own");
  put("below/here/a.c", "below");
  EXPECT_EQ(SourceFiles({root + "/below"}).find(own, of_root).line(1), "own");
  std::filesystem::current_path(root);
  SourceFiles nowhere({});
  EXPECT_FALSE(nowhere.find("here/a.c", of_root).found());
  EXPECT_THAT(nowhere.problem("here/a.c", of_root), HasSubstr("--source-path"));
}

TEST_F(SourceFilesTest, ALinkMustNotLeadOutOfItsDirectory) {
  put("secret", "secret");
  put("project/lib/util.c", "text");
  std::filesystem::create_symlink("../secret", root + "/project/secret.c");
  std::filesystem::create_symlink("lib/util.c", root + "/project/util.c");
  std::filesystem::create_symlink("..", root + "/project/up");
  std::filesystem::create_symlink("project", root + "/named");
  SourceFiles files({root + "/project"});
  EXPECT_EQ(files.find("gone/util.c", of_root).line(1), "text");
  EXPECT_FALSE(files.find("gone/secret.c", of_root).found());
  EXPECT_EQ(files.problem("gone/secret.c", of_root),
            root + "/project/secret.c: a symbolic link leads out of " + root + "/project.");
  EXPECT_FALSE(files.find("up/secret", of_root).found());
  // The directory itself is the user's choice.
  EXPECT_EQ(SourceFiles({root + "/named"}).find("util.c", of_root).line(1), "text");
}

TEST_F(SourceFilesTest, OnlyRegularFilesWithinTheBudgetAreRead) {
  SourceFiles files({});
  EXPECT_FALSE(files.find(root, of_root).found());
  EXPECT_EQ(files.problem(root, of_root), root + ": not a regular file.");
  const std::string large = put("large.c", "");
  std::filesystem::resize_file(large, post::budgets::source_file + 1);
  EXPECT_FALSE(files.find(large, of_root).found());
  EXPECT_THAT(files.problem(large, of_root), HasSubstr("too long"));
}

TEST_F(SourceFilesTest, AllFilesTogetherHaveABudgetToo) {
  SourceFiles files({});
  const std::string text(post::budgets::source_file, 'x');
  size_t found = 0;
  for (int i = 0; i < 6; ++i)
    found += files.find(put(std::to_string(i) + ".c", text), of_root).found() ? 1 : 0;
  EXPECT_EQ(found, post::budgets::source_files / post::budgets::source_file);
}

}  // namespace
