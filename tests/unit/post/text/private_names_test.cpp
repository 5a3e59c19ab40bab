// SPDX-License-Identifier: MIT
// Names that are left out or hashed. The expected hashes are those of openssl's HMAC.
#include "text/private_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace {

using post::PrivateKind;
using post::PrivateNames;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

TEST(PrivateNames, NothingIsHiddenUnlessAskedFor) {
  post::StringTable names;
  const post::Privacy privacy;
  const PrivateNames shown(names, privacy);
  EXPECT_EQ(shown.shown(PrivateKind::path, "/home/alice/x"), "/home/alice/x");
  EXPECT_EQ(shown.shown(PrivateKind::command, names.intern("bash")), names.intern("bash"));
  EXPECT_FALSE(shown.hides(PrivateKind::path));
}

// printf 'path\0/bin/x' | openssl dgst -sha256 -mac hmac -macopt key:0123456789abcdef
TEST(PrivateNames, AHashIsThatOfItsKindTextAndKey) {
  post::StringTable names;
  post::Privacy privacy;
  privacy.key = "0123456789abcdef";
  privacy.hashed = {PrivateKind::path, PrivateKind::command, PrivateKind::host};
  const PrivateNames shown(names, privacy);
  EXPECT_EQ(shown.shown(PrivateKind::path, "/bin/x"), "h-1adf3dadcbad1092dc0e399d");
  EXPECT_EQ(shown.shown(PrivateKind::command, "/bin/x"), "h-5728fdd50cbac9d8dd66b688");
  EXPECT_EQ(names.text(shown.shown(PrivateKind::host, names.intern("web1"))),
            "h-e570113cf9755112d2211599");
  EXPECT_EQ(shown.shown(PrivateKind::path, ""), "");
  EXPECT_EQ(shown.shown(PrivateKind::path, post::no_name), post::no_name);
  EXPECT_EQ(shown.shown(PrivateKind::function, "main"), "main");
}

TEST(PrivateNames, WhatIsLeftOutIsEmpty) {
  post::StringTable names;
  post::Privacy privacy;
  privacy.omitted = {PrivateKind::command};
  const PrivateNames shown(names, privacy);
  EXPECT_EQ(shown.shown(PrivateKind::command, names.intern("bash")), post::no_name);
  EXPECT_EQ(shown.shown(PrivateKind::path, "/bin/bash"), "/bin/bash");
}

TEST(PrivateNames, UsersAreReplacedWithinOtherNames) {
  post::StringTable names;
  post::Privacy privacy;
  privacy.omitted = {PrivateKind::user};
  const PrivateNames left_out(names, privacy);
  EXPECT_EQ(left_out.shown(PrivateKind::path, "/home/alice/a/home/bob"), "/home/-/a/home/-");
  EXPECT_EQ(left_out.shown(PrivateKind::path, "/home/alice"), "/home/-");
  EXPECT_EQ(left_out.shown(PrivateKind::path, "/home//x"), "/home//x");
  EXPECT_EQ(left_out.shown(PrivateKind::path, "/usr/bin/home"), "/usr/bin/home");
  EXPECT_EQ(left_out.shown(PrivateKind::path, "/run/user/1000/x"), "/run/user/-/x");
  EXPECT_EQ(left_out.shown(PrivateKind::cgroup,
                           "/user.slice/user-1000.slice/user@1000.service/app.slice/a.service"),
            "/user.slice/user--.slice/user@-.service/app.slice/a.service");
  EXPECT_EQ(left_out.shown(PrivateKind::host, "/home/alice"), "/home/alice");
  privacy.omitted = {};
  privacy.hashed = {PrivateKind::user};
  privacy.key = "0123456789abcdef";
  const PrivateNames hashed(names, privacy);
  EXPECT_EQ(hashed.shown(PrivateKind::function, "f:/home/alice/x.py"),
            "f:/home/h-69667e0df153a0f2b5b56b32/x.py");
}

TEST(PrivateNames, KindsAreWordsWithCommas) {
  EXPECT_THAT(*post::parse_private_kinds("path,command"),
              UnorderedElementsAre(PrivateKind::path, PrivateKind::command));
  for (const char* wrong : {"", "path,", ",path", "paths", "path command", "path\n"})
    EXPECT_THAT(post::parse_private_kinds(wrong).error().message, HasSubstr("is no kind of names"))
        << wrong;
}

class HashKey : public testing::Test {
 protected:
  void write(size_t bytes, mode_t mode) const {
    ::unlink(path.c_str());
    std::ofstream(path) << std::string(bytes, 'k');
    ::chmod(path.c_str(), mode);
  }
  std::string why() const { return post::read_hash_key(path).error().message; }
  const std::string path = testing::TempDir() + "hash_key";
};

TEST_F(HashKey, IsAFileThatOnlyItsOwnerReads) {
  write(16, 0600);
  EXPECT_EQ(*post::read_hash_key(path), std::string(16, 'k'));
  write(1024, 0400);
  EXPECT_EQ(post::read_hash_key(path)->size(), 1024u);
  for (const mode_t mode : {0640, 0604, 0601}) {
    write(32, mode);
    EXPECT_THAT(why(), HasSubstr("other users may read it"));
  }
  write(32, 0620);
  EXPECT_FALSE(post::read_hash_key(path));
  for (const size_t bytes : {0u, 15u, 1025u, 5000u}) {
    write(bytes, 0600);
    EXPECT_THAT(why(), HasSubstr("16 to 1024 bytes"));
    EXPECT_THAT(why(), testing::Not(HasSubstr("kkk")));
  }
  ::unlink(path.c_str());
  EXPECT_FALSE(post::read_hash_key(path));
  EXPECT_EQ(::symlink("/etc/hostname", path.c_str()), 0);
  EXPECT_FALSE(post::read_hash_key(path));
  ::unlink(path.c_str());
  EXPECT_FALSE(post::read_hash_key("/dev/zero"));
}

}  // namespace
