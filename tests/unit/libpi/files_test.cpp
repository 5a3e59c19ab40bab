// SPDX-License-Identifier: MIT
// Opening, reading and writing of files by descriptor.
#include <pi/files.h>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "rooted_process.h"

namespace {

// Calls of open() in this program, by kind: the open() below overrides the C library's.
std::atomic<int> opened_for_reading = 0;
std::atomic<int> found_only = 0;

}  // namespace

extern "C" int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(rest, int) : 0;
  va_end(rest);
  ++((flags & O_PATH) != 0 ? found_only : opened_for_reading);
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

namespace {

using namespace pi;

class Files : public testing::Test {
 protected:
  Files() {
    directory_ = testing::TempDir() + "files_XXXXXX";
    EXPECT_NE(::mkdtemp(directory_.data()), nullptr);
  }
  ~Files() override { std::filesystem::remove_all(directory_); }
  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  std::string file(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  std::string directory_;
};

TEST_F(Files, ARegularFileIsOpenedAndRead) {
  const auto opened = open_regular(file("one", "text"));
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->status.st_size, 4);
  EXPECT_EQ(*read_whole(opened->fd.get(), 100), "text");
  EXPECT_EQ(::fcntl(opened->fd.get(), F_GETFD), FD_CLOEXEC);
}

TEST_F(Files, SpecialFilesAreNeverOpened) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  ASSERT_EQ(::symlink("fifo", path("link").c_str()), 0);
  opened_for_reading = found_only = 0;
  for (const std::string& each : {path("fifo"), path("link"), directory_, std::string("/dev/null"),
                                  std::string("/dev/ptmx")}) {
    const auto opened = open_regular(each);
    ASSERT_FALSE(opened) << each;
    EXPECT_EQ(opened.error().code, not_regular) << each;
  }
  EXPECT_EQ(opened_for_reading, 0);
  EXPECT_EQ(found_only, 5);
  EXPECT_EQ(open_regular(path("nowhere")).error().code, ENOENT);
}

TEST_F(Files, LinksAreFollowedUnlessTheyAreRefused) {
  file("one", "text");
  ASSERT_EQ(::symlink("one", path("link").c_str()), 0);
  EXPECT_TRUE(open_regular(path("link")));
  EXPECT_FALSE(open_regular(path("link"), Links::refused));
  EXPECT_TRUE(open_regular(path("one"), Links::refused));
}

TEST_F(Files, LinksBelowADirectoryMustNotLeadOutOfIt) {
  const std::string below = path("below");
  std::filesystem::create_directories(below + "/deep");
  file("secret", "secret");
  file("below/one", "text");
  const auto link = [&](const std::string& target, const std::string& name) {
    ASSERT_EQ(::symlink(target.c_str(), path("below/" + name).c_str()), 0);
  };
  link("../one", "deep/inside");
  link("../secret", "up");
  link(path("secret"), "absolute");
  link(below + "/one", "absolute_inside");
  link("..", "directory");
  link("../../../../../../../../etc/passwd", "deep/far");
  link("/proc/self/fd/0", "magic");
  for (const char* each : {"one", "deep/inside", "deep/../one"}) {
    const auto opened = open_regular_below(below, each);
    ASSERT_TRUE(opened) << each << ": " << opened.error().message;
    EXPECT_EQ(*read_whole(opened->fd.get(), 100), "text");
    EXPECT_EQ(::fcntl(opened->fd.get(), F_GETFD), FD_CLOEXEC);
  }
  for (const char* each : {"up", "absolute", "absolute_inside", "directory/secret", "deep/far",
                           "magic", "../secret", "/etc/passwd"}) {
    const auto opened = open_regular_below(below, each);
    ASSERT_FALSE(opened) << each;
    EXPECT_EQ(opened.error().code, EXDEV) << each;
    EXPECT_EQ(opened.error().message, "a symbolic link leads out of " + below);
  }
  EXPECT_EQ(open_regular_below(below, "nowhere").error().code, ENOENT);
  EXPECT_EQ(open_regular_below(path("nowhere"), "one").error().code, ENOENT);
  EXPECT_EQ(open_regular_below(path("secret"), "one").error().code, ENOTDIR);
}

TEST_F(Files, SpecialFilesBelowADirectoryAreNeverOpened) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  ASSERT_EQ(::symlink("fifo", path("link").c_str()), 0);
  opened_for_reading = 0;
  for (const char* each : {"fifo", "link", "."})
    EXPECT_EQ(open_regular_below(directory_, each).error().code, not_regular) << each;
  EXPECT_EQ(opened_for_reading, 0);
}

TEST_F(Files, ARootIsNeverLeftWhateverTheLinks) {
  std::filesystem::create_directories(path("root/etc"));
  file("root/etc/passwd", "of the root");
  ASSERT_EQ(::symlink("/etc/passwd", path("root/absolute").c_str()), 0);
  ASSERT_EQ(::symlink("../../../../etc/passwd", path("root/up").c_str()), 0);
  const UniqueFd root(::open(path("root").c_str(), O_PATH | O_DIRECTORY));
  for (const char* each : {"absolute", "up", "/etc/passwd", "../../etc/passwd"}) {
    const UniqueFd found = find_below(root.get(), each, Below::its_root);
    const auto opened = open_regular(path_of(found.get()));
    ASSERT_TRUE(opened) << each;
    EXPECT_EQ(*read_whole(opened->fd.get(), 100), "of the root") << each;
  }
}

TEST_F(Files, LinksInTheRootOfAProcessLeadToItsFiles) {
  std::filesystem::create_directories(path("root") + path("outside"));
  std::filesystem::create_directories(path("outside"));
  file("outside/map", "of another");
  file("outside/other", "of another");
  file("root" + path("outside") + "/map", "of the root");
  ASSERT_EQ(::chmod((path("root") + path("outside") + "/map").c_str(), 0644), 0);
  ASSERT_EQ(::symlink(path("outside").c_str(), path("root/way").c_str()), 0);
  ASSERT_EQ(::symlink((path("outside") + "/map").c_str(), path("root/link").c_str()), 0);
  const test_support::RootedProcess process(path("root"));
  if (!process.ready()) GTEST_SKIP() << "needs the right to call chroot()";
  const auto opened = open_regular(process.root() + "/way/map");
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(*read_whole(opened->fd.get(), 100), "of the root");
  const auto trusted = open_trusted(process.root() + "/way/map", std::nullopt);
  ASSERT_TRUE(trusted) << trusted.error().message;
  EXPECT_EQ(*read_whole(trusted->fd.get(), 100), "of the root");
  EXPECT_EQ(open_regular(process.root() + "/way/other").error().code, ENOENT);
  EXPECT_EQ(open_regular(process.root() + "/.." + path("outside") + "/other").error().code, ENOENT);
  EXPECT_EQ(open_regular(process.root() + "/link", Links::refused).error().code, not_regular);
  EXPECT_EQ(open_regular(process.root() + "/way/map", Links::nowhere).error().code, ELOOP);
  EXPECT_TRUE(open_regular(process.root() + path("outside") + "/map", Links::nowhere));
  EXPECT_EQ(open_regular("/proc/4194305/root/way/map").error().code, ENOENT);
}

TEST_F(Files, NoComponentOfAPathMayBeALink) {
  std::filesystem::create_directories(path("one/two"));
  file("one/two/file", "text");
  ASSERT_EQ(::symlink("one", path("link").c_str()), 0);
  ASSERT_EQ(::symlink("file", path("one/two/last").c_str()), 0);
  EXPECT_TRUE(open_regular(path("one/two/file"), Links::nowhere));
  EXPECT_TRUE(open_regular(path("link/two/file"), Links::refused));
  EXPECT_EQ(open_regular(path("link/two/file"), Links::nowhere).error().code, ELOOP);
  EXPECT_EQ(open_trusted(path("link/two/file"), std::nullopt, Links::nowhere).error().code, ELOOP);
  EXPECT_EQ(open_regular(path("one/two/last"), Links::nowhere).error().code, not_regular);
}

// A concurrent thread replaces the link as fast as possible.
TEST_F(Files, AReplacedPathDoesNotChangeTheOpenFile) {
  file("good", "good");
  std::atomic<bool> stop = false;
  std::thread swapper([&] {
    while (!stop)
      for (const char* target : {"good", "/dev/ptmx"}) {
        (void)!::symlink(target, path("new").c_str());
        ::rename(path("new").c_str(), path("link").c_str());
      }
  });
  while (::access(path("link").c_str(), F_OK) != 0) std::this_thread::yield();
  int good = 0, refused = 0;
  for (int i = 0; i < 100000 && (good < 200 || refused < 200); ++i) {
    const auto opened = open_regular(path("link"));
    opened ? ++good : ++refused;
    if (opened) {
      ASSERT_EQ(*read_whole(opened->fd.get(), 100), "good");
    } else {
      ASSERT_EQ(opened.error().code, not_regular) << opened.error().message;
    }
  }
  stop = true;
  swapper.join();
  EXPECT_GT(good, 0);
  EXPECT_GT(refused, 0);
}

TEST_F(Files, OnlyFilesOfTheGivenOwnerThatOthersCannotWriteAreTrusted) {
  const std::string name = file("log", "text");
  ASSERT_EQ(::chmod(name.c_str(), 0644), 0);
  EXPECT_TRUE(open_trusted(name, std::nullopt));
  ASSERT_EQ(::chmod(name.c_str(), 0646), 0);
  EXPECT_EQ(open_trusted(name, std::nullopt).error().code, EPERM);
  ASSERT_EQ(::chmod(name.c_str(), 0644), 0);
  ASSERT_EQ(::symlink("log", path("link").c_str()), 0);
  EXPECT_EQ(open_trusted(path("link"), std::nullopt).error().code, EPERM);
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give files away";
  ASSERT_EQ(::chown(name.c_str(), 4711, 4711), 0);
  EXPECT_EQ(open_trusted(name, std::nullopt).error().code, EPERM);
  EXPECT_EQ(open_trusted(name, 4712).error().code, EPERM);
  EXPECT_TRUE(open_trusted(name, 4711));
}

TEST_F(Files, AFileIsReadToItsEndOrToTheLimit) {
  const std::string text(100000, 'x');
  const auto opened = open_regular(file("long", text));
  ASSERT_TRUE(opened);
  EXPECT_EQ(read_whole(opened->fd.get(), 10)->size(), 10u);
  EXPECT_EQ(read_whole(opened->fd.get(), SIZE_MAX)->size(), text.size() - 10);
  std::byte some[8];
  EXPECT_EQ(read_at(opened->fd.get(), text.size() - 3, some).bytes, 3u);
  EXPECT_EQ(read_at(opened->fd.get(), ~uint64_t{0}, some).bytes, 0u);
  EXPECT_EQ(read_at(-1, 0, some).error, EBADF);
  const auto status = open_regular("/proc/self/status");
  ASSERT_TRUE(status);
  EXPECT_NE(read_whole(status->fd.get(), 1 << 20)->find("Name:"), std::string::npos);
}

TEST_F(Files, APipeIsReadAndWrittenCompletely) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string text(1 << 20, 'x');
  std::thread writer([&] {
    EXPECT_EQ(write_all(ends[1], text_bytes(text)), 0);
    ::close(ends[1]);
  });
  std::string got(text.size(), '\0');
  EXPECT_EQ(read_on(ends[0], std::as_writable_bytes(std::span(got))).bytes, text.size());
  writer.join();
  EXPECT_EQ(got, text);
  ::close(ends[0]);
}

TEST_F(Files, AWriteFailureReturnsItsError) {
  const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  EXPECT_EQ(write_all(full.get(), text_bytes("text")), ENOSPC);
  EXPECT_EQ(write_all_at(full.get(), 0, text_bytes("text")), ENOSPC);
}

TEST_F(Files, AReplacedFileHasANewIdentity) {
  const auto identity = [this] { return identity_of(open_regular(path("one"))->status); };
  file("one", "text");
  const FileIdentity first = identity();
  EXPECT_EQ(identity(), first);
  file("two", "text");
  std::filesystem::rename(path("two"), path("one"));
  EXPECT_NE(identity(), first);
}

}  // namespace
