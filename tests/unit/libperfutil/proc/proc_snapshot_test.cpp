// SPDX-License-Identifier: MIT
// Reading /proc: this process, made-up processes, every form of a line.
#include "proc/proc_snapshot.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <future>
#include <thread>

#include "proc/proc_maps.h"
#include "streams.h"
#include "temp_dir.h"

namespace pi::perfutil {
namespace {

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
