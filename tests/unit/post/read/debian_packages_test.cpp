// SPDX-License-Identifier: MIT
// The packages of files, from dpkg's lists.
#include "read/debian_packages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace {

using namespace post;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class DebianPackages : public testing::Test {
 protected:
  DebianPackages() {
    directory_ = testing::TempDir() + "dpkg_XXXXXX";
    if (!::mkdtemp(directory_.data())) throw std::runtime_error("mkdtemp failed");
  }
  ~DebianPackages() override { std::filesystem::remove_all(directory_); }
  void list(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ + "/" + name) << text;
  }

  std::string directory_;
};

TEST_F(DebianPackages, AreFoundByTheWholePathOfAFile) {
  list("app.list", "/.\n/usr\n/usr/bin\n/usr/bin/app\n/usr/bin/application\n");
  list("libx1:amd64.list", "/.\n/lib/x86_64-linux-gnu/libx.so.1\n/usr/lib/y");
  list("app.postinst", "/usr/bin/other\n");
  EXPECT_THAT(
      find_packages({"/usr/bin/app", "/usr/lib/x86_64-linux-gnu/libx.so.1", "/usr/lib/y",
                     "/usr/bin/ap", "/usr/bin/other"},
                    directory_),
      ElementsAre(Pair("/usr/bin/app", "app"), Pair("/usr/lib/x86_64-linux-gnu/libx.so.1", "libx1"),
                  Pair("/usr/lib/y", "libx1")));
}

TEST_F(DebianPackages, AreNoneWithoutDpkg) {
  EXPECT_THAT(find_packages({"/usr/bin/app"}, directory_ + "/none"), IsEmpty());
}

// Reading a pipe would block.
TEST_F(DebianPackages, AreReadFromFilesOnly) {
  list("app.list", "/usr/bin/app\n");
  ASSERT_EQ(::mkfifo((directory_ + "/a.list").c_str(), 0600), 0);
  EXPECT_THAT(find_packages({"/usr/bin/app"}, directory_),
              ElementsAre(Pair("/usr/bin/app", "app")));
}

TEST_F(DebianPackages, AreRestoredFromTheirText) {
  const Packages packages{{"/usr/bin/a b", "one"}, {"/usr/bin/c", "two"}};
  EXPECT_EQ(parse_packages(packages_text(packages)), packages);
  EXPECT_THAT(packages_text({{"/a\nb", "p"}}), IsEmpty());
  EXPECT_THAT(parse_packages("\nx\n y\nz\n"), IsEmpty());
}

}  // namespace
