// SPDX-License-Identifier: MIT
// Reading /proc: this process, made-up processes, every form of a line.
#include "proc/proc_snapshot.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <future>
#include <string_view>
#include <thread>

#include "proc/proc_maps.h"
#include "streams.h"
#include "temp_dir.h"

namespace pi::perfutil {
namespace {

using std::chrono::milliseconds;

bool read_process(const std::string& proc, uint32_t pid, ProcessFacts& out) {
  SnapshotTime time;
  return read_process(proc, pid, time, out);
}

// Process 7 below a directory like /proc.
class FakeProcess {
 public:
  FakeProcess() { write("stat", "7 (x) S 1 0 0"); }
  void write(const std::string& name, std::string_view text) const {
    (void)proc_.write("7/" + name, text);
  }
  ProcessFacts read(SnapshotTime time = SnapshotTime()) const {
    ProcessFacts facts;
    EXPECT_TRUE(read_process(proc_.path(), 7, time, facts));
    return facts;
  }
  // Reads it while its mappings have no end: all of them are this line.
  ProcessFacts read_endless(const std::string& line, const SnapshotTime& time) const {
    const std::string path = proc_ / "7/maps";
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    std::thread writer([&] {
      const auto ignored = std::signal(SIGPIPE, SIG_IGN);
      const int fifo = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
      while (::write(fifo, line.data(), line.size()) > 0) {
      }
      ::close(fifo);
      std::signal(SIGPIPE, ignored);
    });
    ProcessFacts facts = read(time);
    writer.join();
    return facts;
  }

 private:
  test::TempDir proc_;
};

TEST(ProcMaps, ALineIsParsed) {
  const auto line = parse_map_line(
      "7f8a1c000000-7f8a1c021000 r-xp 00026000 fe:01 1234567                    /usr/lib/a b.so "
      "(deleted)");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->start, 0x7f8a1c000000u);
  EXPECT_EQ(line->end, 0x7f8a1c021000u);
  EXPECT_TRUE(line->executable);
  EXPECT_EQ(line->offset, 0x26000u);
  EXPECT_EQ(line->inode, 1234567u);
  EXPECT_EQ(line->name, "/usr/lib/a b.so (deleted)");
}

TEST(ProcMaps, AnonymousMemoryHasAnEmptyName) {
  const auto line = parse_map_line("7f8a1c000000-7f8a1c021000 rwxp 00000000 00:00 0 ");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->name, "");
}

TEST(ProcMaps, InvalidLinesAreRejected) {
  for (const char* text : {"", "x", "1-2", "2-1 r-xp 0 0:0 0", "1-2 r-xp zz 0:0 0", "1-2 r 0 0:0 0",
                           "1-2 r-xp 0 0:0 x", "11111111111111111-2 r-xp 0 0:0 0"})
    EXPECT_FALSE(parse_map_line(text)) << text;
}

TEST(ProcMaps, TheParentIsFoundAfterANameWithParentheses) {
  EXPECT_EQ(parse_parent("42 (a) S 7 (b)) R 17 42 42"), 17u);
  EXPECT_FALSE(parse_parent("42 (a"));
  EXPECT_FALSE(parse_parent("42 (a)"));
  EXPECT_FALSE(parse_parent("42 (a) R x"));
}

TEST(ProcSnapshot, ThisProcessMatchesItsOwnMaps) {
  ProcessFacts facts;
  ASSERT_TRUE(read_process("/proc", static_cast<uint32_t>(::getpid()), facts));
  EXPECT_EQ(facts.parent, static_cast<uint32_t>(::getppid()));
  EXPECT_FALSE(facts.is_32_bit);
  EXPECT_FALSE(facts.maps_denied);
  // Reads the file again, with other code.
  std::ifstream maps("/proc/self/maps");
  std::vector<std::string> expected, seen;
  std::string line;
  while (std::getline(maps, line)) {
    if (line[line.find(' ') + 3] != 'x') continue;
    const size_t name = line.find_first_of("/[", line.find(' '));
    expected.push_back(line.substr(0, line.find('-')) + " " +
                       (name == std::string::npos ? "" : line.substr(name)));
  }
  for (const auto& map : facts.maps) {
    char start[32];
    std::snprintf(start, sizeof start, "%08lx ", static_cast<unsigned long>(map.start));
    seen.push_back(start + map.name);
  }
  EXPECT_GT(expected.size(), 3u);
  EXPECT_EQ(seen, expected);
}

TEST(ProcSnapshot, ThreadsAreNamed) {
  std::promise<void> may_end;
  std::thread thread([end = may_end.get_future()]() mutable {
    ::pthread_setname_np(::pthread_self(), "own name");
    end.wait();
  });
  ProcessFacts facts;
  const auto has_name = [&] {
    (void)read_process("/proc", static_cast<uint32_t>(::getpid()), facts);
    return std::any_of(facts.threads.begin(), facts.threads.end(),
                       [](const auto& each) { return each.second == "own name"; });
  };
  bool found = false;
  for (int i = 0; i < 1000 && !(found = has_name()); ++i) std::this_thread::yield();
  may_end.set_value();
  thread.join();
  EXPECT_TRUE(found);
}

TEST(ProcSnapshot, AnEndedProcessIsReportedAsMissing) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ProcessFacts facts;
  EXPECT_FALSE(read_process("/proc", static_cast<uint32_t>(child), facts));
}

TEST(ProcSnapshot, AProcessWithTooManyMappingsIsCutOffInTime) {
  const auto facts = FakeProcess().read_endless(
      "1000-2000 r--p 00000000 00:00 0\n",
      SnapshotTime({milliseconds(20), milliseconds(20), milliseconds(1)}));
  EXPECT_TRUE(facts.maps_cut_off);
  EXPECT_FALSE(facts.maps_denied);
  EXPECT_TRUE(facts.maps.empty());
}

TEST(ProcSnapshot, MappingsTakeALimitedAmountOfMemory) {
  const std::chrono::hours long_time(1);
  const auto facts = FakeProcess().read_endless(
      "1000-2000 r-xp 00000000 00:00 0 /" + std::string(1999, 'd') + "\n",
      SnapshotTime({long_time, long_time, long_time}));
  EXPECT_TRUE(facts.maps_cut_off);
  EXPECT_GT(facts.maps.size(), 10'000u);
  EXPECT_LT(facts.maps.size(), 20'000u);
}

TEST(ProcSnapshot, MappingsThatNoRecordCanHoldAreCountedAndDropped) {
  const FakeProcess process;
  const auto line = [](size_t name, const char* permissions) {
    return std::string("1000-2000 ") + permissions + " 00000000 00:00 0 /" +
           std::string(name - 1, 'd') + "\n";
  };
  process.write("maps", line(PITRACE_MAX_STRING, "r-xp") + line(PITRACE_MAX_STRING + 1, "r-xp") +
                            line(50'000, "r-xp") + line(PITRACE_MAX_STRING + 1, "r--p") +
                            line(5, "r-xp"));
  const auto facts = process.read();
  ASSERT_EQ(facts.maps.size(), 2u);
  EXPECT_EQ(facts.maps[0].name.size(), size_t{PITRACE_MAX_STRING});
  EXPECT_EQ(facts.maps[1].name, "/dddd");
  EXPECT_EQ(facts.too_long_maps, 2u);
  EXPECT_FALSE(facts.maps_cut_off);
}

TEST(ProcSnapshot, MissingMappingsAreLostRecordsAndNoted) {
  ProcessFacts facts;
  facts.pid = 10;
  facts.too_long_maps = 3;
  facts.maps_cut_off = true;
  RecordingState state;
  auto buffer = UserBuffer::create(65536, 0, PITRACE_BUFFER_MTE, &state);
  ASSERT_TRUE(buffer);
  put_process(facts, 99, true, *buffer);
  const auto counts = buffer->unread().counts;
  EXPECT_EQ(counts.lost[PITRACE_LOST_TOO_LONG], 3u);
  EXPECT_EQ(counts.lost[PITRACE_LOST_SOURCE], 1u);
  EXPECT_EQ(counts.produced, counts.written + 4);
  IncompleteMaps incomplete;
  EXPECT_TRUE(incomplete.notes().empty());
  incomplete.add(facts);
  facts.pid = 11;
  incomplete.add(facts);
  const auto notes = incomplete.notes();
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_NE(notes[0].find("2 processes (process 10, and others)"), std::string::npos) << notes[0];
  EXPECT_NE(notes[1].find("6 mappings (of process 10, for example)"), std::string::npos)
      << notes[1];
}

TEST(ProcSnapshot, ProcessesThatTakeLongHaveACommonLimit) {
  SnapshotTime time({milliseconds(250), milliseconds(300), milliseconds(10)});
  time.spend(milliseconds(10));
  EXPECT_EQ(time.for_next(), milliseconds(250));
  time.spend(milliseconds(250));
  EXPECT_EQ(time.for_next(), milliseconds(70));
  time.spend(milliseconds(250));
  EXPECT_EQ(time.for_next(), milliseconds(10));
}

TEST(ProcSnapshot, TheWidthOfAProcessIsReadFromTheKernelAndNotFromTheProgramsFile) {
  const FakeProcess process;
  constexpr std::array<uint32_t, 4> narrow{32, 0xf7fc0570, 33, 0xf7fc0000};
  constexpr std::array<uint64_t, 2> wide{33, 0x7ffff7fc0000};
  const auto is_32_bit = [&](const auto& auxv) {
    process.write("auxv", {reinterpret_cast<const char*>(auxv.data()), sizeof auxv});
    return process.read().is_32_bit;
  };
  EXPECT_TRUE(is_32_bit(narrow));
  process.write("exe", std::string("\177ELF\1\1\1\0\0\0\0\0\0\0\0\0", 16));
  EXPECT_FALSE(is_32_bit(wide));
  process.write("auxv", "");
  EXPECT_FALSE(process.read().is_32_bit);
}

TEST(ProcSnapshot, OnlyDescendantsAreFound) {
  const test::TempDir proc;
  const auto add = [&](int pid, int parent) {
    proc.write(std::to_string(pid) + "/stat",
               std::to_string(pid) + " (x) S " + std::to_string(parent) + " 0 0");
  };
  add(1, 0);
  add(10, 1);
  add(11, 10);
  add(12, 11);
  add(20, 1);
  EXPECT_EQ(list_processes(proc.path(), 10), (std::vector<uint32_t>{10, 11, 12}));
  EXPECT_EQ(list_processes(proc.path(), 99), std::vector<uint32_t>{});
  EXPECT_EQ(list_processes(proc.path(), 0), (std::vector<uint32_t>{1, 10, 11, 12, 20}));
}

TEST(ProcSnapshot, AProcessBecomesParentNameThreadsAndModules) {
  ProcessFacts facts;
  facts.pid = 10;
  facts.parent = 1;
  facts.name = "demo";
  facts.threads = {{10, "demo"}, {11, "demo"}, {12, "worker"}};
  facts.maps = {{0x400000, 0x1000, 0x2000, 77, "/bin/demo"}, {0x500000, 0x1000, 0, 0, ""}};
  RecordingState state;
  auto buffer = UserBuffer::create(65536, 0, PITRACE_BUFFER_TRACE, &state);
  ASSERT_TRUE(buffer);
  put_process(facts, 99, true, *buffer);
  EXPECT_EQ(
      test::lines_of(buffer->unread().records),
      (std::vector<std::string>{"19/63 @99 a 1 200", "19/34 @99 a 64 'demo'", "19/66 @99 a b",
                                "19/36 @99 a b 'demo'", "19/66 @99 a c", "19/36 @99 a c 'worker'",
                                "19/1 @99 a 1000 0 0 0 400000 0 0 2000 0 4d '/bin/demo'",
                                "19/1 @99 a 1000 fffffff1 0 0 500000 0 0 0 0 0 '//anon'"}));
  buffer->reset();
  put_process(facts, 99, false, *buffer);
  EXPECT_EQ(buffer->unread().counts.written, 7u);
}

TEST(ProcSnapshot, AProcessOfAnotherPidNamespaceGetsItsIdRecord) {
  ProcessFacts facts;
  facts.pid = 10;
  facts.parent = 1;
  facts.name = "demo";
  facts.threads = {{10, "demo"}, {11, "worker"}};
  facts.pid_namespace = 0xf0000099;
  facts.namespace_ids = {{10, {1, 1}}, {11, {1, 7}}};
  RecordingState state;
  auto buffer = UserBuffer::create(65536, 0, PITRACE_BUFFER_TRACE, &state);
  ASSERT_TRUE(buffer);
  put_process(facts, 99, true, *buffer);
  EXPECT_EQ(test::lines_of(buffer->unread().records),
            (std::vector<std::string>{"19/63 @99 a 1 200", "19/68 @99 a a 1 1 f0000099",
                                      "19/34 @99 a 64 'demo'", "19/66 @99 a b",
                                      "19/68 @99 a b 1 7 f0000099", "19/36 @99 a b 'worker'"}));
}

}  // namespace
}  // namespace pi::perfutil
