// SPDX-License-Identifier: MIT
// The resolver of stacks: files, tables, and what is reported when they are missing.
#include "stacks/stack_resolver.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <mutex>
#include <thread>

#include <pi/files.h>

#include "open_descriptors.h"
#include "table/table_builder.h"
#include "temp_dir.h"

namespace pi::swtrace {
namespace {

using test::open_descriptors;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t address = 0x7f0000000000, stack = 0x7ffd00000000;

// Functions of 16 bytes from the file's start: one whose frame has 16 bytes, one that nothing
// calls.
Result<SealedTable> some_table() {
  unwind::TableBuilder builder;
  unwind::Rule rule;
  rule.cfa = {unwind::CfaKind::offset, unwind::stack_pointer, 0, 0, 16, 0, 0};
  rule.saves[unwind::return_address] = {unwind::SaveKind::at_cfa, 0, 0, 0, -8};
  builder.begin_function(0, 16);
  builder.add_row(0, rule);
  rule.cfa.kind = unwind::CfaKind::end;
  builder.begin_function(16, 32);
  builder.add_row(16, rule);
  const UniqueFd memory(::memfd_create("table", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(write_all(memory.get(), builder.take()), 0);
  auto table = SealedTable::of(memory);
  EXPECT_TRUE(table);
  return std::move(*table);
}

class SwtraceStackResolver : public testing::Test {
 protected:
  void map(StackResolver& resolver, const char* path, uint64_t inode, uint64_t time = 1,
           uint64_t at = address) {
    pi_process_change change{};
    change.kind = PI_PROCESS_MAPPED;
    change.pid = static_cast<uint32_t>(::getpid());
    change.time = time;
    change.address = at;
    change.bytes = 0x1000;
    change.inode = inode;
    change.path = path;
    resolver.change(change);
  }
  pi_stack_copy copy_of(uint64_t at, uint64_t time, uint64_t id) const {
    pi_stack_copy copy{};
    copy.time = time;
    copy.id = id;
    copy.pid = static_cast<uint32_t>(::getpid());
    copy.registers[unwind::stack_pointer] = stack;
    copy.registers[unwind::return_address] = at + 4;
    copy.bytes = words_;
    copy.length = sizeof words_;
    return copy;
  }
  bool resolve(StackResolver& resolver, bool last = false, uint64_t at = address) {
    return resolve(resolver, copy_of(at, 5, ++last_id_), last);
  }
  // Until it is ready.
  bool resolve(StackResolver& resolver, const pi_stack_copy& copy, bool last = false) {
    for (int i = 0; i < 10000; ++i) {
      if (resolver.resolve(copy, last, addresses_, frames_)) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
  std::vector<uint64_t> frames() const { return {addresses_, addresses_ + frames_.frames}; }

  const uint64_t words_[4] = {0, address + 8, 0, address + 20};
  uint64_t addresses_[16] = {};
  pi_stack_frames frames_{};
  uint64_t last_id_ = 100;
};

uint64_t inode_of(const char* path) {
  struct stat facts {};
  ::stat(path, &facts);
  return facts.st_ino;
}

TEST_F(SwtraceStackResolver, AStackIsWholeWhenTheTableOfItsFileIsReady) {
  int compiled = 0;
  StackResolver resolver([&](const UniqueFd&) {
    ++compiled;
    return some_table();
  });
  resolver.begin();
  map(resolver, "/proc/self/exe", inode_of("/proc/self/exe"));
  ASSERT_TRUE(resolve(resolver));
  EXPECT_THAT(frames(), ElementsAre(address + 8, address + 20));
  EXPECT_EQ(frames_.end, PI_STACK_WHOLE);
  EXPECT_EQ(frames_.by_table, 2u);
  // The same file again has its table.
  resolver.begin();
  map(resolver, "/proc/self/exe", inode_of("/proc/self/exe"));
  ASSERT_TRUE(resolve(resolver));
  EXPECT_EQ(frames_.end, PI_STACK_WHOLE);
  EXPECT_EQ(compiled, 1);
  EXPECT_THAT(resolver.notes(), IsEmpty());
}

TEST_F(SwtraceStackResolver, WithoutTimeItDoesWithoutTheTableAndSaysSo) {
  std::atomic<bool> may_end = false;
  StackResolver resolver([&](const UniqueFd&) {
    while (!may_end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return some_table();
  });
  resolver.begin();
  map(resolver, "/proc/self/exe", inode_of("/proc/self/exe"));
  EXPECT_TRUE(resolve(resolver, true));
  EXPECT_EQ(frames_.end, PI_STACK_UNKNOWN);
  EXPECT_EQ(frames_.frames, 0u);
  EXPECT_THAT(resolver.notes(), ElementsAre(HasSubstr("1 user stack(s)")));
  may_end = true;
}

// Its process has other memory when the table is ready.
TEST_F(SwtraceStackResolver, AStackThatWaitsIsUnwoundWithTheMemoryOfItsTime) {
  std::atomic<bool> may_end = false;
  StackResolver resolver([&](const UniqueFd&) {
    while (!may_end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return some_table();
  });
  resolver.begin();
  map(resolver, "/proc/self/exe", inode_of("/proc/self/exe"));
  pi_process_change end{};
  end.kind = PI_PROCESS_ENDED;
  end.pid = static_cast<uint32_t>(::getpid());
  end.time = 6;
  resolver.change(end);
  pi_stack_copy first = copy_of(address, 5, 1), second = copy_of(address, 7, 2);
  EXPECT_FALSE(resolver.resolve(first, false, addresses_, frames_));
  // A later one need not wait: it has no memory.
  EXPECT_TRUE(resolver.resolve(second, false, addresses_, frames_));
  EXPECT_EQ(frames_.frames, 0u);
  may_end = true;
  ASSERT_TRUE(resolve(resolver, first));
  EXPECT_EQ(frames_.end, PI_STACK_WHOLE);
  EXPECT_THAT(resolver.notes(), IsEmpty());
}

TEST_F(SwtraceStackResolver, ADroppedStackIsForgotten) {
  std::atomic<bool> may_end = false;
  StackResolver resolver([&](const UniqueFd&) {
    while (!may_end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return some_table();
  });
  resolver.begin();
  map(resolver, "/proc/self/exe", inode_of("/proc/self/exe"));
  pi_stack_copy copy = copy_of(address, 5, 1);
  EXPECT_FALSE(resolver.resolve(copy, false, addresses_, frames_));
  resolver.drop(1);
  may_end = true;
  // It is tried as a new one.
  ASSERT_TRUE(resolve(resolver, copy));
  EXPECT_EQ(frames_.end, PI_STACK_WHOLE);
}

// Two stacks want the table of file 3, one each that of 0 and 2, none that of 1.
TEST_F(SwtraceStackResolver, TablesThatStacksWaitForAreMadeFirst) {
  const test::TempDir directory;
  std::mutex mutex;
  std::string order;
  std::atomic<bool> all_asked = false;
  StackResolver resolver([&](const UniqueFd& file) {
    // The first one waits until the others are open.
    while (!all_asked || (order.empty() && open_descriptors(directory.path()) < 4))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::lock_guard lock(mutex);
    order += *read_whole(file.get(), 100);
    return some_table();
  });
  resolver.begin();
  for (uint64_t i = 0; i < 4; ++i) {
    const std::string path = directory.path() + "/" + std::to_string(i);
    std::ofstream(path) << i;
    map(resolver, path.c_str(), inode_of(path.c_str()), 1, address + i * 0x1000);
  }
  // The first one occupies the compiler; its process runs, so that all four will be compiled.
  EXPECT_FALSE(resolver.resolve(copy_of(address, 5, 1), false, addresses_, frames_));
  // Wishes for a file that is not open yet count once.
  for (int i = 0; i < 10000 && open_descriptors(directory.path()) < 4; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (uint64_t id = 2; id < 5; ++id) {
    const uint64_t at = address + (id == 4 ? 2 : 3) * 0x1000;
    EXPECT_FALSE(resolver.resolve(copy_of(at, 5, id), false, addresses_, frames_));
  }
  all_asked = true;
  ASSERT_TRUE(resolve(resolver, copy_of(address + 2 * 0x1000, 5, 4)));
  for (int i = 0; i < 10000; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::lock_guard lock(mutex);
    if (order.size() == 4) break;
  }
  const std::lock_guard lock(mutex);
  EXPECT_THAT(order, AnyOf("0321", "1302", "1320", "2301", "3021", "3201"));
}

TEST_F(SwtraceStackResolver, AFailureIsReportedWithItsFile) {
  StackResolver resolver([](const UniqueFd&) -> Result<SealedTable> {
    return Error{static_cast<int>(NoTable::failed), "too hostile"};
  });
  resolver.begin();
  map(resolver, "/proc/self/exe", inode_of("/proc/self/exe"));
  ASSERT_TRUE(resolve(resolver));
  EXPECT_THAT(resolver.notes(), ElementsAre(HasSubstr("/proc/self/exe: too hostile")));
}

TEST_F(SwtraceStackResolver, AnotherFileOfThatPathIsNotUsed) {
  StackResolver resolver([](const UniqueFd&) { return some_table(); });
  resolver.begin();
  map(resolver, "/proc/self/exe", inode_of("/proc/self/exe") + 1);
  ASSERT_TRUE(resolve(resolver));
  EXPECT_EQ(frames_.frames, 0u);
  EXPECT_THAT(resolver.notes(), ElementsAre(HasSubstr("could not be opened")));
}

TEST_F(SwtraceStackResolver, ARecordedStackIsCutWhereItsFileCannotBeOpened) {
  std::vector<std::string> opened;
  StackResolver resolver([](const UniqueFd&) { return some_table(); }, TableFiles::Limits{},
                         [&](const MappedAs& place) -> Result<UniqueFd> {
                           opened.push_back(place.path);
                           if (place.path != "/here") return Error{ENOENT, "not here"};
                           return UniqueFd(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
                         });
  resolver.begin();
  map(resolver, "/here", 1);
  map(resolver, "/unused", 1, 1, 0x10000000);
  ASSERT_TRUE(resolve(resolver));
  EXPECT_THAT(frames(), ElementsAre(address + 8, address + 20));
  EXPECT_EQ(frames_.end, PI_STACK_WHOLE);
  // A file is opened once for all of its mappings, and only if a stack needs it.
  map(resolver, "/here", 1, 6);
  ASSERT_TRUE(resolve(resolver, copy_of(address, 7, 1)));
  EXPECT_EQ(frames_.end, PI_STACK_WHOLE);
  EXPECT_THAT(opened, ElementsAre("/here"));
  EXPECT_THAT(resolver.notes(), IsEmpty());
  map(resolver, "/gone", 1, 8);
  for (const uint64_t time : {9, 10}) {
    ASSERT_TRUE(resolve(resolver, copy_of(address, time, time)));
    EXPECT_EQ(frames_.frames, 0u);
    EXPECT_EQ(frames_.end, PI_STACK_CUT);
  }
  EXPECT_THAT(opened, ElementsAre("/here", "/gone"));
  EXPECT_THAT(
      resolver.notes(),
      ElementsAre("2 user stack(s) are cut in the code of 1 file(s): /gone (2: not here)."));
}

TEST_F(SwtraceStackResolver, MemoryWithoutAFileHasNoTableAndNeedsNone) {
  StackResolver resolver([](const UniqueFd&) { return some_table(); });
  resolver.begin();
  map(resolver, "//anon", 0);
  ASSERT_TRUE(resolve(resolver));
  EXPECT_EQ(frames_.end, PI_STACK_UNKNOWN);
  EXPECT_THAT(resolver.notes(), IsEmpty());
}

// Each hostile file takes longer than all have together. The files of root have their own time.
TEST_F(SwtraceStackResolver, FilesWhoseTablesTakeLongUseALimitedTime) {
  const test::TempDir directory;
  int compiled = 0;
  StackResolver resolver(
      [&](const UniqueFd&) -> Compiled {
        ++compiled;
        return {Error{static_cast<int>(NoTable::failed), "its compiler does not end"},
                std::chrono::milliseconds(500)};
      },
      {std::chrono::milliseconds(50), std::chrono::seconds(5)});
  resolver.begin();
  const auto map_file = [&](uint64_t number, uid_t owner) {
    const std::string path = directory.path() + "/" + std::to_string(number);
    std::ofstream(path) << number;
    if (::geteuid() == 0) {
      EXPECT_EQ(::chown(path.c_str(), owner, owner), 0);
    }
    const uint64_t at = address + number * 0x1000;
    map(resolver, path.c_str(), inode_of(path.c_str()), 1, at);
    ASSERT_TRUE(resolve(resolver, false, at));
  };
  for (uint64_t i = 0; i < 4; ++i) map_file(i, 65534);
  EXPECT_EQ(compiled, 1);
  EXPECT_THAT(resolver.notes(), ElementsAre(HasSubstr("of 4 file(s)")));
  if (::geteuid() == 0) {
    map_file(4, 0);
    EXPECT_EQ(compiled, 2);
  }
}

uid_t owner_of(const UniqueFd& file) {
  struct stat facts {};
  EXPECT_EQ(::fstat(file.get(), &facts), 0);
  return facts.st_uid;
}

// More files than may be open wait for a compiler, which does not end.
TEST_F(SwtraceStackResolver, FilesOfOthersDoNotKeepThoseOfRootFromBeingOpened) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs files of two users";
  constexpr uint64_t files = 450;
  const test::TempDir directory;
  std::atomic<bool> may_end = false;
  std::atomic<unsigned> compiled = 0;
  StackResolver resolver([&](const UniqueFd& file) {
    while (owner_of(file) != 0 && !may_end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++compiled;
    return some_table();
  });
  resolver.begin();
  const auto place = [](uint64_t number) { return address + number * 0x1000; };
  const auto map_file = [&](uint64_t number, uid_t owner) {
    const std::string path = directory.path() + "/" + std::to_string(number);
    std::ofstream(path) << number;
    EXPECT_EQ(::chown(path.c_str(), owner, owner), 0);
    map(resolver, path.c_str(), inode_of(path.c_str()), 1, place(number));
  };
  for (uint64_t i = 1; i <= files; ++i) {
    map_file(i, 65534);
    EXPECT_FALSE(resolver.resolve(copy_of(place(i), 5, 1000 + i), false, addresses_, frames_));
  }
  map_file(0, 0);
  ASSERT_TRUE(resolve(resolver, false, place(0)));
  EXPECT_EQ(frames_.end, PI_STACK_WHOLE);
  EXPECT_EQ(compiled, 1u);
  may_end = true;
  for (uint64_t i = 1; i <= files; ++i)
    ASSERT_TRUE(resolve(resolver, copy_of(place(i), 5, 1000 + i)));
  EXPECT_EQ(compiled, files + 1);
  EXPECT_THAT(resolver.notes(), IsEmpty());
}

TEST_F(SwtraceStackResolver, TablesOfOthersDoNotUseTheMemoryForThoseOfRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs files of two users";
  const test::TempDir directory;
  TableFiles::Limits limits;
  limits.table_bytes = 1;
  StackResolver resolver([](const UniqueFd&) { return some_table(); }, limits);
  resolver.begin();
  uint64_t number = 0;
  const auto frames_in_file_of = [&](uid_t owner) {
    const std::string path = directory.path() + "/" + std::to_string(number);
    std::ofstream(path) << number;
    EXPECT_EQ(::chown(path.c_str(), owner, owner), 0);
    const uint64_t at = address + number++ * 0x1000;
    map(resolver, path.c_str(), inode_of(path.c_str()), 1, at);
    // The return addresses are in the first file.
    EXPECT_TRUE(resolve(resolver, false, at));
    return frames_.frames;
  };
  EXPECT_EQ(frames_in_file_of(65534), 2u);
  EXPECT_EQ(frames_in_file_of(65534), 0u);
  EXPECT_EQ(frames_in_file_of(0), 2u);
  EXPECT_THAT(resolver.notes(), ElementsAre(HasSubstr("of 1 file(s)")));
}

// A process can keep any number of files mapped.
TEST_F(SwtraceStackResolver, TooManyFilesOfOthersDoNotTakeThePlaceOfThoseOfRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs files of two users";
  const test::TempDir directory;
  TableFiles::Limits limits;
  limits.files = 3;
  StackResolver resolver([](const UniqueFd&) { return some_table(); }, limits);
  resolver.begin();
  uint64_t number = 0;
  const auto frames_in_file_of = [&](uid_t owner) {
    const std::string path = directory.path() + "/" + std::to_string(number);
    std::ofstream(path) << number;
    EXPECT_EQ(::chown(path.c_str(), owner, owner), 0);
    const uint64_t at = address + number++ * 0x1000;
    map(resolver, path.c_str(), inode_of(path.c_str()), 1, at);
    EXPECT_TRUE(resolve(resolver, false, at));
    return frames_.frames;
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(frames_in_file_of(65534), 2u);
  EXPECT_EQ(frames_in_file_of(65534), 0u);
  EXPECT_EQ(frames_in_file_of(65534), 0u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(frames_in_file_of(0), 2u);
  EXPECT_THAT(resolver.notes(), ElementsAre(HasSubstr("2 mapped file(s) could not be opened")));
}

TEST(SwtraceCompileBudget, AQuarterOfThePassingTimeIsAddedUpToTheWhole) {
  using std::chrono::seconds;
  CompileBudget budget(seconds(60));
  auto now = CompileBudget::Clock::now();
  const auto is_spent_after = [&](seconds time) { return budget.is_spent(now += time); };
  EXPECT_FALSE(is_spent_after(seconds(1000)));
  budget.use(seconds(61));
  EXPECT_TRUE(is_spent_after(seconds(3)));
  EXPECT_FALSE(is_spent_after(seconds(2)));
  budget.use(seconds(15));
  EXPECT_TRUE(is_spent_after(seconds(50)));
  EXPECT_FALSE(is_spent_after(seconds(20)));
}

// More than there are descriptors for.
TEST_F(SwtraceStackResolver, ThousandsOfMappedFilesNeedFewDescriptors) {
  constexpr uint64_t files = 1300, batch = 430;
  const test::TempDir directory;
  const size_t before = open_descriptors();
  std::atomic<size_t> most = 0;
  StackResolver resolver([&](const UniqueFd&) {
    most = std::max(most.load(), open_descriptors());
    return some_table();
  });
  resolver.begin();
  for (uint64_t i = 0; i < files; ++i) {
    const std::string path = directory.path() + "/" + std::to_string(i);
    std::ofstream(path) << i;
    map(resolver, path.c_str(), inode_of(path.c_str()), 1, address + i * 0x1000);
    // Its stack needs a descriptor, while the files before it have all of them.
    if (i % batch == batch - 1) {
      ASSERT_TRUE(resolve(resolver, false, address + i * 0x1000));
      ASSERT_EQ(frames_.end, PI_STACK_WHOLE);
    }
  }
  // One whose descriptor was closed meanwhile.
  ASSERT_TRUE(resolve(resolver, false, address + 0x1000));
  EXPECT_EQ(frames_.end, PI_STACK_WHOLE);
  EXPECT_LT(most, before + 450);
  EXPECT_THAT(resolver.notes(), IsEmpty());
}

// 2,047 bytes each, of 64 MB.
TEST_F(SwtraceStackResolver, LongPathsUseALimitedAmountOfMemory) {
  constexpr uint64_t files = 40000, known = (64 << 20) / 2047;
  const std::string path = "/" + std::string(2046, 'x');
  StackResolver resolver([](const UniqueFd&) { return some_table(); });
  resolver.begin();
  for (uint64_t i = 0; i < files; ++i) map(resolver, path.c_str(), 1, 1, address + i * 0x1000);
  EXPECT_THAT(resolver.notes(),
              ElementsAre(HasSubstr(std::to_string(files - known) + " mapped file(s) have no")));
}

// The real vdso, by the real compiler.
TEST_F(SwtraceStackResolver, TheVdsoHasATable) {
  std::atomic<size_t> rows = 0;
  TableCompiler compiler({SWTRACE_PROGRAM});
  StackResolver resolver([&](const UniqueFd& file) {
    auto table = compiler.compile(file).table;
    EXPECT_TRUE(table) << table.error().message;
    if (table) rows = table->table().rows();
    return table;
  });
  resolver.begin();
  map(resolver, "[vdso]", 0);
  ASSERT_TRUE(resolve(resolver));
  EXPECT_GT(rows, 5u);
}

}  // namespace
}  // namespace pi::swtrace
