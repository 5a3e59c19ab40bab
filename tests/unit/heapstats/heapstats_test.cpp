// SPDX-License-Identifier: MIT
// heapstats reads logs of libheapit, also damaged ones, and adds up paths by the names of
// functions.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "call_paths.h"
#include "heap_file.h"
#include "heap_log_builder.h"
#include "report.h"

namespace {

using namespace pi::heap_log;
using heapstats::By;
using test_support::LogBuilder;
using test_support::two_paths;

TEST(HeapFile, HasWhatWasWritten) {
  const auto file = heapstats::parse_heap_file(two_paths().bytes(), "log");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->pid, 4711u);
  EXPECT_EQ(file->command, "app one");
  EXPECT_EQ(file->damage, "");
  ASSERT_EQ(file->mappings.size(), 1u);
  EXPECT_EQ(file->mappings[0].path, "/no/such/file");
  ASSERT_EQ(file->paths.size(), 4u);
  const auto callers = file->callers(file->paths[0]);
  EXPECT_EQ(std::vector(callers.begin(), callers.end()), (std::vector<uint64_t>{0x1101, 0x1201}));
  EXPECT_EQ(file->paths[0].number[live_bytes], 600u);
}

// Whatever byte is changed or cut off, reading ends, within the file.
TEST(HeapFile, DamagedFilesAreReadUpToTheDamage) {
  const std::string good = two_paths().bytes();
  for (size_t size = 0; size < good.size(); ++size) {
    const auto file = heapstats::parse_heap_file(std::string_view(good).substr(0, size), "log");
    EXPECT_EQ(bool(file), size >= sizeof(Header));
    if (file) {
      EXPECT_NE(file->damage, "");
    }
  }
  for (size_t at = sizeof(Header); at < good.size(); ++at)
    for (const int value : {0, 1, 0x7f, 0xff}) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(value);
      const auto file = heapstats::parse_heap_file(bytes, "log");
      ASSERT_TRUE(file);
      EXPECT_LE(file->paths.size(), 4u);
      for (const auto& path : file->paths) EXPECT_LE(file->callers(path).size(), max_frames);
    }
  EXPECT_FALSE(heapstats::parse_heap_file("no log", "log"));
}

TEST(HeapstatsRows, PathsThroughTheSameFunctionsAreOne) {
  LogBuilder log = two_paths();
  log.path(allocation, {0x1101, 0x1201}, {1, 100, 0, 100, 100});
  const auto file = heapstats::parse_heap_file(log.bytes(), "log");
  ASSERT_TRUE(file);
  const auto paths = heapstats::call_paths(*file, false);
  ASSERT_EQ(paths.rows.size(), 3u);  // the path that has not waited is none
  EXPECT_EQ(paths.rows[0].allocations, 11u);
  EXPECT_EQ(paths.rows[0].live(), 7u);
  EXPECT_EQ(paths.rows[0].live_bytes, 700u);
  EXPECT_EQ(paths.functions[paths.rows[0].functions[0]], (heapstats::Function{"0x1100", "file"}));
  const auto functions = heapstats::call_paths(*file, true);
  ASSERT_EQ(functions.rows.size(), 2u);
  EXPECT_EQ(functions.rows[0].allocations, 12u);
  EXPECT_EQ(functions.rows[0].functions.size(), 1u);
}

TEST(HeapstatsReport, FoldedStacksBeginWithTheOutermostFunction) {
  const auto file = heapstats::parse_heap_file(two_paths().bytes(), "log");
  ASSERT_TRUE(file);
  const auto paths = heapstats::call_paths(*file, false);
  EXPECT_EQ(heapstats::folded(paths, By::live), "0x1200;0x1100 600\n");
  EXPECT_EQ(heapstats::folded(paths, By::allocations), "0x1100 1\n0x1200;0x1100 10\n");
  EXPECT_EQ(heapstats::folded(paths, By::wait_time), "0x1100 2000000000\n");
}

TEST(HeapstatsReport, WaitsAreSummedByWhatTheyAreFor) {
  LogBuilder log = two_paths();
  log.path(other_futex, {0x1101}, {7, 500'000'000, 1});
  const auto file = heapstats::parse_heap_file(log.bytes(), "log");
  ASSERT_TRUE(file);
  const std::string text = heapstats::text_report(*file, heapstats::call_paths(*file, false), {});
  EXPECT_NE(text.find("\n3 waits for locks, together 2.000000 s.\n"), text.npos) << text;
  EXPECT_NE(text.find("\n7 waits in other futexes, together 0.500000 s.\n"), text.npos) << text;
  EXPECT_NE(text.find("  other futex\n"), text.npos) << text;
}

TEST(HeapstatsReport, ListsWhatIsMissing) {
  LogBuilder log = two_paths();
  log.header().lost[lost_paths] = 7;
  log.header().lost[lost_blocks] = 8;
  log.path(allocation, {0x1301}, {5, 5, 5, 0, 5}, unknown);
  const auto file = heapstats::parse_heap_file(log.bytes(), "log");
  ASSERT_TRUE(file);
  const auto losses = heapstats::losses_of(*file, heapstats::call_paths(*file, false), false);
  ASSERT_EQ(losses.size(), 3u);
  EXPECT_EQ(losses[0], "7 allocations and waits have no call path: no space in the log");
  EXPECT_EQ(losses[1], "8 allocations count as freed at once: no memory to remember them");
  EXPECT_EQ(losses[2], "5 allocations and waits have a call path that ends too early");
}

}  // namespace
