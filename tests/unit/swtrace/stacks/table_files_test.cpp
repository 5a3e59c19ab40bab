// SPDX-License-Identifier: MIT
// Which mapped files are opened for their tables, and which are known already.
#include "stacks/table_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "stacks/table_work.h"
#include "temp_dir.h"

namespace pi::swtrace {
namespace {

struct stat facts_of(const std::string& path) {
  struct stat facts {};
  EXPECT_EQ(::stat(path.c_str(), &facts), 0);
  return facts;
}

// A file that this process has mapped.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
        memory_(::mmap(nullptr, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd_.get(), 0), size) {
    const auto begin = reinterpret_cast<uint64_t>(memory_.data());
    place_ = {static_cast<uint32_t>(::getpid()), begin, begin + size, facts_of(path).st_ino, path};
  }
  const MappedAs& place() const { return place_; }

 private:
  static constexpr size_t size = 4096;
  UniqueFd fd_;
  UniqueMapping memory_;
  MappedAs place_;
};

class SwtraceTableFiles : public testing::Test {
 protected:
  SwtraceTableFiles() { write("first"); }

  void write(const std::string& text) const { std::ofstream(path_) << text; }
  // Its table is there, or there is none.
  static void finish(TableFiles& files, const std::shared_ptr<TableFile>& file) {
    files.ask(file, TableWish::wanted);
    while (!files.is_done(*file)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  void add(TableFiles& files, const MappedAs& place) const { finish(files, files.mapped(place)); }

  std::atomic<int> opened_ = 0, compiled_ = 0;
  const TableFiles::Compile compile_ = [this](const UniqueFd&) -> Result<SealedTable> {
    ++compiled_;
    return Error{0, "a file without a table"};
  };
  const TableFiles::Open open_ = [this](const MappedAs& place) {
    ++opened_;
    return open_mapped(place, "/proc");
  };
  const TableFiles::Find find_ = [](const MappedAs& place) { return find_mapped(place, "/proc"); };
  const test::TempDir directory_;
  const std::string path_ = directory_.path() + "/file";
};

TEST_F(SwtraceTableFiles, AFileThatIsKnownIsNotOpenedAgain) {
  TableFiles files(compile_, {}, open_, TableFiles::When::early, find_);
  const MappedFile once(path_), again(path_);
  add(files, once.place());
  add(files, again.place());
  // After the end of its process it is found by its path.
  MappedAs of_ended = again.place();
  of_ended.pid = 0x7fffffff;
  add(files, of_ended);
  EXPECT_EQ(opened_, 1);
  EXPECT_EQ(compiled_, 1);
}

TEST_F(SwtraceTableFiles, TheVdsoIsOpenedOnce) {
  TableFiles files(compile_, {}, open_, TableFiles::When::early, find_);
  for (uint32_t pid = 1; pid < 10; ++pid) add(files, {pid, 0x1000, 0x3000, 0, vdso_path});
  EXPECT_EQ(opened_, 1);
  EXPECT_EQ(compiled_, 1);
}

TEST_F(SwtraceTableFiles, AFileThatWasWrittenToIsAnotherOne) {
  TableFiles files(compile_, {}, open_, TableFiles::When::early, find_);
  add(files, MappedFile(path_).place());
  write("second, with the same inode");
  add(files, MappedFile(path_).place());
  EXPECT_EQ(opened_, 2);
  EXPECT_EQ(compiled_, 2);
}

TEST_F(SwtraceTableFiles, AFileThatHasReplacedAKnownOneIsAnotherOne) {
  TableFiles files(compile_, {}, open_, TableFiles::When::early, find_);
  const MappedFile before(path_);
  add(files, before.place());
  std::ofstream(path_ + ".new") << "third";
  std::filesystem::rename(path_ + ".new", path_);
  const MappedFile after(path_);
  add(files, after.place());
  EXPECT_EQ(opened_, 2);
  EXPECT_EQ(compiled_, 2);
  // The deleted one is still mapped. Its times have changed with its number of links.
  add(files, before.place());
  EXPECT_EQ(opened_, 3);
}

TEST_F(SwtraceTableFiles, WhatIsMappedElsewhereIsNotFound) {
  const MappedFile mapped(path_);
  ASSERT_TRUE(find_mapped(mapped.place(), "/proc"));
  EXPECT_EQ(find_mapped(mapped.place(), "/proc")->st_ino, facts_of(path_).st_ino);
  // The process lives, and has something else there: the path says nothing about its file.
  MappedAs gone = mapped.place();
  gone.begin -= 1;
  EXPECT_FALSE(find_mapped(gone, "/proc"));
  gone = mapped.place();
  ++gone.inode;
  EXPECT_FALSE(find_mapped(gone, "/proc"));
  gone.pid = 0x7fffffff;
  EXPECT_FALSE(find_mapped(gone, "/proc"));
}

TEST_F(SwtraceTableFiles, AFileOfTheRightDeviceIsFoundByItsPath) {
  MappedAs place = MappedFile(path_).place();
  place.end = place.begin;
  EXPECT_FALSE(find_mapped(place, "/proc"));
  place.device = facts_of(path_).st_dev;
  EXPECT_TRUE(find_mapped(place, "/proc"));
  ++place.device;
  EXPECT_FALSE(find_mapped(place, "/proc"));
  // That of another inode has replaced it.
  --place.device;
  ++place.inode;
  EXPECT_FALSE(find_mapped(place, "/proc"));
}

TEST_F(SwtraceTableFiles, PathsOfOthersLeaveSpaceForThoseOfRootAndTheRecordersUser) {
  TableFiles files(
      compile_, {},
      [](const MappedAs&) -> Result<UniqueFd> {
        return Error{1, ""};
      },
      TableFiles::When::when_wanted);
  files.reserve_for([](uint32_t pid) { return pid == 1; });
  std::vector<std::shared_ptr<TableFile>> known;
  const auto fill = [&](uint32_t pid) {
    std::shared_ptr<TableFile> file;
    do {
      std::string path = "/" + std::to_string(known.size());
      path.resize(1 << 20, 'x');
      if ((file = files.mapped({pid, 0, 1, 1, path}))) known.push_back(file);
    } while (file);
    return known.size();
  };
  EXPECT_EQ(fill(2), 48u);
  EXPECT_EQ(fill(1), 64u);
  EXPECT_EQ(fill(2), 64u);
}

}  // namespace
}  // namespace pi::swtrace
