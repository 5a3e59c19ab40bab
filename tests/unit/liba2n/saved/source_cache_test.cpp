// SPDX-License-Identifier: MIT
// The cache of source lines: an entry is used only for the same file, incomplete data is not
// stored, and the size is limited.
#include "saved/source_cache.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "a2n_fixture.h"

namespace {

namespace fs = std::filesystem;
using a2n::SourceCache;
using a2n::SourceCacheKey;
using a2n::SourceIndexBuilder;
using testing::IsEmpty;

class SourceCacheTest : public A2nTest {
 protected:
  static constexpr uint64_t bias = 0x555500000000;

  SourceCacheTest() : cache_(temporary("cache")) {}

  // "file:line" of main() in a program, from an empty context with the cache.
  std::string main_of(const std::string& file) {
    A2nInit();
    A2nSetCacheDirectory(cache_.c_str());
    map(file, bias);
    A2N_FRAME found[16];
    size_t count = 0;
    const uint64_t main = bias + truth::value_of(truth::functions(file), "main");
    if (A2nGetFramesAt(pid, main, 0, found, 16, &count) != A2N_SUCCESS || count == 0) return "";
    const A2N_FRAME& frame = found[count - 1];
    return fs::path(frame.file ? frame.file : "??").filename().string() + ":" +
           std::to_string(frame.line);
  }

  std::string program(const std::string& name) {
    fs::copy(truth::fixture("inlined"), temporary(name));
    return temporary(name);
  }

  std::vector<fs::path> saved() const {
    std::vector<fs::path> all;
    if (!fs::exists(cache_)) return all;
    for (const auto& entry : fs::directory_iterator(cache_)) all.push_back(entry.path());
    return all;
  }

  static std::string content(const fs::path& path) {
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

  // Replaces a saved index by one with a line that no file has, so that its use is detected.
  static void mark(const fs::path& path) {
    const std::string text = content(path);
    SourceIndexBuilder builder;
    builder.add_row(0, builder.text("cached.c"), 77);
    std::ofstream(path, std::ios::binary)
        << text.substr(0, text.find('\n') + 1) << builder.build().save();
  }

  const std::string cache_;
};

TEST_F(SourceCacheTest, AnUnchangedFileIsNotReadAgain) {
  const std::string file = program("program");
  const std::string truth = main_of(file);
  ASSERT_NE(truth, "");
  ASSERT_EQ(saved().size(), 1u);
  mark(saved().front());
  EXPECT_EQ(main_of(file), "cached.c:77");
}

TEST_F(SourceCacheTest, ADamagedIndexAndAnUntrustedDirectoryAreNotUsed) {
  const std::string file = program("program");
  const std::string truth = main_of(file);
  ASSERT_EQ(saved().size(), 1u);
  mark(saved().front());
  std::ofstream(saved().front(), std::ios::binary | std::ios::app) << "x";
  EXPECT_EQ(main_of(file), truth);
  EXPECT_EQ(main_of(file), truth) << "the damaged index was replaced";
  mark(saved().front());
  ASSERT_EQ(::chmod(cache_.c_str(), 0777), 0);
  EXPECT_EQ(main_of(file), truth);
  ASSERT_EQ(::chmod(cache_.c_str(), 0700), 0);
  const std::string link = temporary("link");
  fs::create_directory_symlink(cache_, link);
  SourceCache cache;
  cache.set_directory(link);
  SourceIndexBuilder builder;
  builder.add_row(0, builder.text("x.c"), 1);
  cache.save({"ab", {}}, builder.build());
  EXPECT_EQ(saved().size(), 1u) << "nothing is written through a link";
}

// Another user's file has the same build-id, and it is analysed first.
TEST_F(SourceCacheTest, AnotherFileWithTheSameBuildIdHasASeparateEntry) {
  const std::string other_user = program("stranger");
  const std::string good = program("good");
  ASSERT_EQ(truth::build_id(other_user), truth::build_id(good));
  const std::string truth = main_of(other_user);
  mark(saved().front());
  EXPECT_EQ(main_of(good), truth);
  EXPECT_EQ(saved().size(), 2u);
  EXPECT_EQ(main_of(other_user), "cached.c:77");
}

TEST_F(SourceCacheTest, AFileThatWasReplacedOrChangedIsReadAgain) {
  const std::string file = program("program");
  const std::string truth = main_of(file);
  mark(saved().front());
  fs::rename(program("other"), file);
  EXPECT_EQ(main_of(file), truth);
  for (const fs::path& path : saved()) mark(path);
  ASSERT_EQ(main_of(file), "cached.c:77");
  // Write into the file and restore its modification time: only the change time differs.
  struct stat before {};
  ASSERT_EQ(::stat(file.c_str(), &before), 0);
  { std::fstream(file, std::ios::in | std::ios::out | std::ios::binary) << "\177ELF"; }
  const timespec times[] = {before.st_atim, before.st_mtim};
  // The change time has the resolution of the kernel's timer tick: wait for the next one.
  struct stat after {};
  do {
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
    ASSERT_EQ(::stat(file.c_str(), &after), 0);
  } while (after.st_ctim.tv_sec == before.st_ctim.tv_sec &&
           after.st_ctim.tv_nsec == before.st_ctim.tv_nsec);
  EXPECT_EQ(main_of(file), truth);
}

TEST_F(SourceCacheTest, NothingIsCachedWhileTheSupplementIsMissing) {
  const std::string file = program("program");
  const std::string supplement = truth::fixture("inlined4");
  const std::string section = temporary("section");
  std::string id;
  const std::string hex = truth::build_id(supplement);
  for (size_t at = 0; at < hex.size(); at += 2)
    id += static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16));
  std::ofstream(section, std::ios::binary) << "supplement.debug" << '\0' << id;
  truth::run("objcopy --add-section .gnu_debugaltlink=" + section + " " + file);
  const std::string truth = main_of(file);
  EXPECT_NE(truth, "");
  EXPECT_THAT(saved(), IsEmpty());
  fs::copy(supplement, temporary("supplement.debug"));
  EXPECT_EQ(main_of(file), truth);
  EXPECT_EQ(saved().size(), 1u);
}

TEST_F(SourceCacheTest, ASupplementThatIsAFifoIsNeverOpened) {
  const std::string file = program("program");
  const std::string fifo = temporary("fifo"), section = temporary("section");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::ofstream(section, std::ios::binary) << fifo << '\0' << std::string(20, 'x');
  truth::run("objcopy --add-section .gnu_debugaltlink=" + section + " " + file);
  // main_of() must not open the FIFO: that would block.
  ::alarm(20);
  main_of(file);
  ::alarm(0);
  EXPECT_EQ(::open(fifo.c_str(), O_WRONLY | O_NONBLOCK), -1);
  EXPECT_EQ(errno, ENXIO);
  EXPECT_THAT(saved(), IsEmpty());
}

// ---- the limit ----

class SourceCacheLimit : public SourceCacheTest {
 protected:
  SourceCacheLimit() {
    files_.set_directory(cache_);
    SourceIndexBuilder builder;
    for (uint64_t row = 0; row < 1000; ++row) builder.add_row(row, builder.text("x.c"), 1);
    index_ = builder.build();
  }
  static SourceCacheKey key(uint64_t inode) {
    SourceCacheKey key{"abcd", {}};
    key.file.inode = inode;
    return key;
  }
  // Sets the modification time, by which least recently used entries are chosen, to seconds ago.
  void make_old(const fs::path& path, int64_t seconds) {
    const timespec then{::time(nullptr) - seconds, 0};
    const timespec times[] = {then, then};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  uint64_t one_size() {
    files_.save(key(1), index_);
    struct stat status {};
    EXPECT_EQ(::stat(saved().front().c_str(), &status), 0);
    return static_cast<uint64_t>(status.st_blocks) * 512;
  }
  SourceCache files_;
  a2n::SourceIndex index_;
};

TEST_F(SourceCacheLimit, TheLeastRecentlyUsedIndexIsRemoved) {
  const uint64_t size = one_size();
  make_old(saved().front(), 300);
  const fs::path first = saved().front();
  files_.set_limit(3 * size);
  files_.save(key(2), index_);
  for (const fs::path& path : saved())
    if (path != first) make_old(path, 200);
  files_.save(key(3), index_);
  // Use the oldest entry again.
  ASSERT_TRUE(files_.load(key(1)));
  files_.save(key(4), index_);
  EXPECT_EQ(saved().size(), 3u);
  EXPECT_TRUE(files_.load(key(1)));
  EXPECT_FALSE(files_.load(key(2)));
  EXPECT_TRUE(files_.load(key(3)));
  EXPECT_TRUE(files_.load(key(4)));
}

TEST_F(SourceCacheLimit, AnIndexBeyondTheLimitIsNotSavedAndRemovesNothing) {
  one_size();
  files_.set_limit(100);
  files_.save(key(2), index_);
  EXPECT_EQ(saved().size(), 1u);
  EXPECT_FALSE(files_.load(key(2)));
}

TEST_F(SourceCacheLimit, TemporaryFilesOfKilledProgramsAreRemoved) {
  one_size();
  const fs::path fresh = fs::path(cache_) / ".lines-0123.tmp";
  const fs::path old = fs::path(cache_) / ".lines-4567.tmp";
  std::ofstream(fresh) << "x";
  std::ofstream(old) << "x";
  make_old(old, 7200);
  files_.save(key(2), index_);
  EXPECT_TRUE(fs::exists(fresh));
  EXPECT_FALSE(fs::exists(old));
}

TEST_F(SourceCacheLimit, AnInvalidBuildIdIsNotUsedAsAFileName) {
  for (const char* build_id : {"", "?", "../x", "AB", "ab/c"}) {
    files_.save({build_id, {}}, index_);
    EXPECT_FALSE(files_.load({build_id, {}})) << build_id;
  }
  EXPECT_THAT(saved(), IsEmpty());
}

}  // namespace
