// SPDX-License-Identifier: MIT
// Processes and mappings through the C API: owners, names, times, many short-lived processes.
#include <gmock/gmock.h>
#include <malloc.h>
#include <sys/stat.h>

#include "a2n_fixture.h"
#include "effort.h"

namespace {

class Processes : public A2nTest {
 protected:
  static std::string module_at(uint32_t process, uint64_t address, uint64_t time) {
    SYMDATA data;
    A2nGetSymbolAt(process, address, time, &data);
    return data.mod_name;
  }
};

TEST_F(Processes, ACloneIsReportedWithItsOwner) {
  A2nSetProcessName(1, "owner");
  A2nAddModule(1, 0x1000, 0x1000, "//anon", A2N_STAMP_ANON, 0);
  A2nSetTime(10);
  A2nCloneProcess(1, 2);
  SYMDATA data;
  EXPECT_EQ(A2nGetSymbol(2, 0x1800, &data), A2N_NO_SYMBOLS);
  EXPECT_EQ(data.owning_pid, 1u);
  EXPECT_STREQ(data.owning_pid_name, "owner");
  A2nSetTime(20);
  A2nExecProcess(2);
  A2nSetProcessName(2, "other");
  EXPECT_EQ(A2nGetSymbol(2, 0x1800, &data), A2N_NO_MODULE);
  EXPECT_EQ(data.owning_pid, 2u);
  EXPECT_STREQ(data.owning_pid_name, "other");
}

TEST_F(Processes, AnExecOfTheOwnerDoesNotRenameItsClones) {
  A2nSetProcessName(1, "before");
  A2nCloneProcess(1, 2);
  A2nSetTime(10);
  A2nExecProcess(1);
  A2nSetProcessName(1, "after");
  SYMDATA data;
  A2nGetSymbol(2, 0x1000, &data);
  EXPECT_EQ(data.owning_pid, 1u);
  EXPECT_STREQ(data.owning_pid_name, "before");
}

TEST_F(Processes, AReusedAddressIsResolvedByTime) {
  for (uint64_t i = 0; i < 10; ++i) {
    A2nSetTime(100 * i);
    A2nAddModule(pid, 0x7f0000000000, 0x4000, ("/nowhere/lib" + std::to_string(i)).c_str(), 0, 0);
  }
  for (uint64_t i = 0; i < 10; ++i) {
    const std::string name = "/nowhere/lib" + std::to_string(i);
    EXPECT_EQ(module_at(pid, 0x7f0000003fff, 100 * i), name);
    EXPECT_EQ(module_at(pid, 0x7f0000000000, 100 * i + 99), name);
  }
}

TEST_F(Processes, APidHasNoModuleBeforeItsFirstEvent) {
  A2nSetTime(500);
  A2nAddModule(pid, 0x1000, 0x1000, "/nowhere/x", 0, 0);
  EXPECT_EQ(module_at(pid, 0x1000, 499), "NoModule");
  EXPECT_EQ(module_at(pid, 0x1000, 500), "/nowhere/x");
  EXPECT_EQ(module_at(pid + 1, 0x1000, 500), "NoModule");
}

TEST_F(Processes, MappingsOfPid0ApplyToAllProcesses) {
  A2nAddModule(0, 0x1000, 0x1000, "/nowhere/everywhere", 0, 0);
  A2nAddModule(pid, 0x5000, 0x1000, "/nowhere/own", 0, 0);
  EXPECT_EQ(module_at(pid, 0x1000, 0), "/nowhere/everywhere");
  EXPECT_EQ(module_at(pid, 0x5000, 0), "/nowhere/own");
}

TEST_F(Processes, TheOwnerIsThatOfTheFileWithTheSymbols) {
  const std::string file = truth::fixture("libfull.so");
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  A2nAddModule(pid, 0x100000, 0x10000, file.c_str(), 0, 0);
  A2nAddModule(pid, 0x500000, 0x1000, "/nowhere/x", 0, 0);
  // JIT-compiled code in a part of the file that the runtime has replaced.
  A2nAddJittedMethod(pid, "demo.run()V", 0x101000, 8, "abcdefgh");
  uint32_t owner = status.st_uid + 1;
  EXPECT_EQ(A2nGetOwnerAt(pid, 0x100000, 0, &owner), A2N_SUCCESS);
  EXPECT_EQ(owner, status.st_uid);
  EXPECT_EQ(A2nGetOwnerAt(pid, 0x101004, 0, &owner), A2N_NO_MODULE);
  EXPECT_EQ(A2nGetOwnerAt(pid, 0x500000, 0, &owner), A2N_NO_MODULE);
  EXPECT_EQ(A2nGetOwnerAt(pid, 0x900000, 0, &owner), A2N_NO_MODULE);
  EXPECT_EQ(A2nGetOwnerAt(pid, 0x100000, 0, nullptr), A2N_NULL_SYMDATA);
}

TEST_F(Processes, ARepeatedMappingHasNoEffect) {
  A2nAddModuleEx(pid, 0x1000, 0x4000, "/nowhere/x", 0, 0x1000, 7);
  A2nAddModuleEx(pid, 0x2000, 0x1000, "/nowhere/y", 0, 0, 0);
  A2nAddModuleEx(pid, 0x1000, 0x1000, "/nowhere/x", 0, 0x1000, 7);  // the remaining part of it
  A2nAddModuleEx(pid, 0x3000, 0x2000, "/nowhere/x", 0, 0x3000, 7);
  SYMDATA data;
  A2nGetSymbol(pid, 0x3000, &data);
  EXPECT_STREQ(data.mod_name, "/nowhere/x");
  EXPECT_EQ(data.mod_addr, 0x3000u);
  EXPECT_EQ(data.mod_length, 0x2000u);
  A2nGetSymbol(pid, 0x2000, &data);
  EXPECT_STREQ(data.mod_name, "/nowhere/y");
}

TEST_F(Processes, NamesDependOnTheTime) {
  A2nSetTime(10);
  A2nSetProcessName(1, "shell");
  A2nSetTime(20);
  A2nForkProcess(1, 2);
  A2nSetTime(30);
  A2nExecProcess(2);
  A2nSetProcessName(2, "command");
  EXPECT_EQ(A2nGetProcessNameAt(2, 19), nullptr);
  EXPECT_STREQ(A2nGetProcessNameAt(2, 20), "shell");
  EXPECT_STREQ(A2nGetProcessNameAt(2, 30), "command");
  EXPECT_STREQ(A2nGetProcessName(2), "command");
  EXPECT_EQ(A2nGetProcessNameAt(1, 10), A2nGetProcessNameAt(2, 29));
}

TEST_F(Processes, ManyShortLivedProcessesTakeLittleTime) {
  constexpr uint32_t processes = 1000;
  constexpr uint64_t mappings = 30;
  A2nSetProcessName(1, "parent");
  for (uint64_t i = 0; i < mappings; ++i)
    A2nAddModule(1, 0x10000 * (i + 1), 0x8000, "//anon", 0, 0);
  const test_support::Effort effort;
  uint64_t time = 0;
  for (uint32_t number = 0; number < processes; ++number) {
    A2nSetTime(++time);
    A2nForkProcess(1, 1000 + number);
    A2nSetTime(++time);
    A2nExecProcess(1000 + number);
    for (uint64_t i = 0; i < mappings; ++i) {
      A2nSetTime(++time);
      A2nAddModule(1000 + number, 0x10000 * (i + 1), 0x8000,
                   ("/nowhere/" + std::to_string(i)).c_str(), 0, 0);
    }
  }
  for (uint32_t number = 0; number < processes; ++number) {
    const uint64_t forked = uint64_t{number} * (mappings + 2) + 1;
    ASSERT_EQ(module_at(1000 + number, 0x10000, forked), "//anon");
    ASSERT_EQ(module_at(1000 + number, 0x10000, forked + 1), "NoModule");
    ASSERT_EQ(module_at(1000 + number, 0x10000 * mappings, forked + 1 + mappings), "/nowhere/29");
  }
  EXPECT_LT(effort.spent(), 20);
}

TEST_F(Processes, AReleasedProcessIsForgottenAndItsChildrenAreNot) {
  A2nSetProcessName(1, "parent");
  A2nAddModule(1, 0x1000, 0x1000, "/nowhere/a", 0, 0);
  A2nForkProcess(1, 2);
  A2nCloneProcess(1, 3);
  A2nAddModule(2, 0x5000, 0x1000, "/nowhere/b", 0, 0);
  A2nForkProcess(2, 4);
  EXPECT_EQ(A2nReleaseProcess(1), A2N_SUCCESS);
  EXPECT_EQ(A2nReleaseProcess(2), A2N_SUCCESS);
  EXPECT_EQ(A2nReleaseProcess(99), A2N_SUCCESS);
  // These mappings must not take the places of those that the children still have.
  A2nSetTime(10);
  A2nCreateProcess(1);
  for (uint64_t i = 0; i < 10; ++i) A2nAddModule(1, 0x10000 * i + 0x1000, 0x1000, "//anon", 0, 0);
  EXPECT_EQ(module_at(2, 0x1000, 10), "NoModule");
  EXPECT_EQ(A2nGetProcessName(2), nullptr);
  EXPECT_EQ(module_at(1, 0x1000, 0), "NoModule");
  EXPECT_EQ(module_at(1, 0x1000, 10), "//anon");
  EXPECT_EQ(module_at(3, 0x1000, 10), "/nowhere/a");
  EXPECT_EQ(module_at(4, 0x1000, 10), "/nowhere/a");
  EXPECT_EQ(module_at(4, 0x5000, 10), "/nowhere/b");
  EXPECT_STREQ(A2nGetProcessName(4), "parent");
  A2nReleaseProcess(3);
  A2nReleaseProcess(4);
  for (uint64_t i = 0; i < 10; ++i) A2nAddModule(1, 0x10000 * i + 0x5000, 0x1000, "//anon", 0, 0);
  EXPECT_EQ(module_at(1, 0x1000, 10), "//anon");
  EXPECT_EQ(module_at(1, 0x95000, 10), "//anon");
}

TEST_F(Processes, ReleasedProcessesTakeNoMemory) {
  A2nAddModule(1, 0x1000, 0x1000, "/nowhere/a", 0, 0);
  // Each is forked by the one before, which then ends.
  const auto run = [](uint32_t first, uint32_t end) {
    for (uint32_t number = first; number < end; ++number) {
      A2nSetTime(10 * number);
      A2nForkProcess(number == 2 ? 1 : number - 1, number);
      if (number % 2 == 0) A2nExecProcess(number);
      for (uint64_t i = 0; i < 20; ++i)
        A2nAddModule(number, 0x10000 * i, 0x8000, "/nowhere/b", 0, 0);
      if (number != 2) A2nReleaseProcess(number - 1);
    }
  };
  run(2, 100);
  const size_t before = mallinfo2().uordblks;
  run(100, 20'000);
  EXPECT_LT(mallinfo2().uordblks, before + 100'000);
  EXPECT_EQ(module_at(19'999, 0x10000, 200'000), "/nowhere/b");
}

// Without an exec the mappings of all are needed; the end of them must not need a stack as long.
TEST_F(Processes, ALongChainOfForksIsReleased) {
  A2nAddModule(1, 0x1000, 0x1000, "/nowhere/a", 0, 0);
  constexpr uint32_t last = 200'000;
  for (uint32_t number = 2; number <= last; ++number) {
    A2nForkProcess(number - 1, number);
    A2nReleaseProcess(number - 1);
  }
  EXPECT_EQ(module_at(last, 0x1000, 0), "/nowhere/a");
  A2nReleaseProcess(last);
  EXPECT_EQ(module_at(last, 0x1000, 0), "NoModule");
}

}  // namespace
