// SPDX-License-Identifier: MIT
// Build-ids of files on a file system that does not answer: only the reader's thread waits.
#include "file/build_id_reader.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace pi::perfutil {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

WantedFile file(const std::string& path, uint64_t inode = 0) {
  WantedFile wanted{path, {}};
  wanted.mentions.inode = inode;
  return wanted;
}

// A file system that does not answer until the test allows it or has ended.
struct Disk {
  std::promise<void> called, answer;
  std::shared_future<void> answered = answer.get_future().share();
  BuildIdReader::Read read() {
    return [this, first = std::make_shared<std::atomic<bool>>(true),
            waiting = answered](const WantedFile& wanted) {
      if (first->exchange(false)) called.set_value();
      if (wanted.path == "/hangs") waiting.wait();
      return "id " + wanted.path + "\n";
    };
  }
};

std::string read_slowly(const WantedFile& wanted) {
  std::this_thread::sleep_for(milliseconds(20));
  return wanted.path + "\n";
}

constexpr BuildIdPatience long_patience{minutes(1), minutes(1)};

TEST(BuildIdReader, ReadsInOrder) {
  BuildIdReader reader([](const WantedFile& wanted) { return wanted.path + "\n"; });
  EXPECT_EQ(reader.wait_for_lines(long_patience), "");
  reader.want({file("/a"), file("/b")});
  reader.want({file("/c")});
  EXPECT_EQ(reader.wait_for_lines(long_patience), "/a\n/b\n/c\n");
  EXPECT_EQ(reader.take_lines(), "");
  EXPECT_EQ(reader.give_up(), "");
  EXPECT_EQ(reader.trouble(), "");
}

// Its paths that begin with /hangs do not answer until the end of the test.
class HangingDisk {
 public:
  ~HangingDisk() { answer_.set_value(); }
  BuildIdReader::Read read() {
    return [answered = answered_](const WantedFile& wanted) {
      if (wanted.path.starts_with("/hangs")) answered.wait();
      return "id " + wanted.path + "\n";
    };
  }

 private:
  std::promise<void> answer_;
  std::shared_future<void> answered_ = answer_.get_future().share();
};

TEST(BuildIdReader, AFileThatHangsBlocksNoCallerAndNoOtherFile) {
  HangingDisk disk;
  BuildIdReader reader(disk.read());
  reader.want({file("/hangs", 7), file("/later")});
  EXPECT_EQ(reader.take_lines(), "");
  EXPECT_EQ(reader.wait_for_lines({seconds(1), minutes(1)}), "?@7 /hangs\nid /later\n");
  EXPECT_EQ(reader.give_up(), "");
  EXPECT_THAT(reader.trouble(), testing::HasSubstr("1 file(s)"));
  EXPECT_THAT(reader.trouble(), testing::HasSubstr("The first is /hangs."));
}

TEST(BuildIdReader, ALateAnswerIsNotWrittenTwice) {
  Disk disk;
  BuildIdReader reader(disk.read());
  reader.want({file("/hangs")});
  disk.called.get_future().wait();
  EXPECT_EQ(reader.wait_for_lines({milliseconds(1), minutes(1)}), "? /hangs\n");
  disk.answer.set_value();
  reader.want({file("/next")});
  EXPECT_EQ(reader.wait_for_lines(long_patience), "id /next\n");
  EXPECT_EQ(reader.give_up(), "");
}

TEST(BuildIdReader, ManyFilesThatHangEndTheReading) {
  HangingDisk disk;
  BuildIdReader reader(disk.read());
  std::vector<WantedFile> files(20, file("/hangs"));
  files.push_back(file("/later"));
  reader.want(files);
  std::string lines = reader.wait_for_lines({milliseconds(10), minutes(1)});
  const auto replaced = std::ranges::count(lines, '\n');
  EXPECT_EQ(replaced, 8);
  lines += reader.give_up();
  EXPECT_EQ(std::ranges::count(lines, '\n'), 21);
  EXPECT_THAT(reader.trouble(), testing::HasSubstr("21 file(s)"));
}

TEST(BuildIdReader, WaitsWhileOneFileAfterTheOtherIsRead) {
  BuildIdReader reader(read_slowly);
  std::vector<WantedFile> files;
  for (int i = 0; i < 50; ++i) files.push_back(file("/" + std::to_string(i)));
  reader.want(files);
  // All files together take longer than the deadline, each alone does not, even on a busy machine.
  const std::string lines = reader.wait_for_lines({milliseconds(950), minutes(1)});
  EXPECT_EQ(std::ranges::count(lines, '\n'), 50);
  EXPECT_EQ(reader.trouble(), "");
}

TEST(BuildIdReader, DoesNotWaitForeverForFilesThatAreReadSlowly) {
  BuildIdReader reader(read_slowly);
  reader.want(std::vector<WantedFile>(10'000, file("/slow")));
  const std::string lines = reader.wait_for_lines({minutes(1), milliseconds(200)});
  EXPECT_LT(std::ranges::count(lines, '\n'), 5'000);
  reader.give_up();
  EXPECT_THAT(reader.trouble(), testing::HasSubstr("file(s)"));
}

TEST(BuildIdReader, IsDestroyedAlthoughAFileHangs) {
  Disk disk;
  {
    BuildIdReader reader(disk.read());
    reader.want({file("/hangs")});
    disk.called.get_future().wait();
  }
  disk.answer.set_value();
}

TEST(BuildIdReader, FilesBeyondTheLimitAreLeftOutAndReported) {
  Disk disk;
  BuildIdReader reader(disk.read(), 2);
  reader.want({file("/hangs")});
  disk.called.get_future().wait();
  reader.want({file("/1"), file("/2"), file("/3"), file("/4")});
  EXPECT_THAT(reader.trouble(), testing::HasSubstr("2 file(s)"));
  disk.answer.set_value();
  EXPECT_EQ(reader.wait_for_lines(long_patience), "id /hangs\nid /1\nid /2\n");
}

}  // namespace
}  // namespace pi::perfutil
