// SPDX-License-Identifier: MIT
// Small inputs that could take gigabytes or minutes: files of runtimes, and process events.
#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "a2n_fixture.h"
#include "constants.h"
#include "heap.h"

namespace {

using test_support::HeapPeak;
using testing::HasSubstr;

using test::MiB;

class Amplification : public A2nTest {
 protected:
  Amplification() { A2nCreateProcess(pid); }

  std::string write(const std::string& name, const std::string& bytes) {
    const std::string path = temporary(name);
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  static std::string symbol_at(uint64_t address, uint64_t time) {
    SYMDATA data;
    return A2nGetSymbolAt(pid, address, time, &data) == A2N_SUCCESS ? data.sym_name : "";
  }
};

template <class... Values>
std::string words(Values... values) {
  std::string bytes;
  for (const uint64_t value : {static_cast<uint64_t>(values)...})
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  return bytes;
}

std::string record(uint32_t kind, uint64_t time, const std::string& body) {
  const uint32_t head[] = {kind, static_cast<uint32_t>(16 + body.size())};
  return std::string(reinterpret_cast<const char*>(head), sizeof head) + words(time) + body;
}

// A jitdump file that loads one method with lines and size (in bytes), then moves it.
std::string moved_code(uint64_t lines, uint64_t size, uint64_t moves) {
  const uint32_t head[] = {0x4a695444, 1, 40, 62, 0, 100, 0, 0, 0, 0};
  std::string dump(reinterpret_cast<const char*>(head), sizeof head);
  std::string debug = words(0x1000, lines);
  for (uint64_t i = 0; i < lines; ++i) {
    const uint32_t line[] = {static_cast<uint32_t>(i + 1), 0};
    debug += words(0x1000 + i) + std::string(reinterpret_cast<const char*>(line), sizeof line);
    debug += i == 0 ? std::string("a.c") + '\0' : std::string("\xff") + '\0';
  }
  dump += record(2, 1, debug);
  const uint32_t ids[] = {100, 100};
  const std::string process(reinterpret_cast<const char*>(ids), sizeof ids);
  dump += record(
      0, 2, process + words(0x1000, 0x1000, size, 1) + "code" + '\0' + std::string(size, '\x90'));
  for (uint64_t i = 0; i < moves; ++i) {
    const uint64_t from = 0x1000 + i * 0x100000;
    dump += record(1, 3 + i, process + words(from + 0x100000, from, from + 0x100000, size, 1));
  }
  return dump;
}

TEST_F(Amplification, MovedCodeSharesItsLineTable) {
  const std::string path = write("jit-100.dump", moved_code(50'000, 50'000, 8'000));
  const HeapPeak peak;
  ASSERT_EQ(A2nLoadJittedMethods(pid, A2N_JIT_DUMP, path.c_str(), nullptr), A2N_SUCCESS)
      << A2nGetErrorText();
  EXPECT_EQ(symbol_at(0x1000 + 5000ull * 0x100000, 3 + 5000 - 1), "code");
  EXPECT_LT(peak.bytes(), 32 * MiB);
  A2N_FRAME frame;
  size_t count = 0;
  ASSERT_EQ(A2nGetFramesAt(pid, 0x1000 + 8000ull * 0x100000 + 41, 1'000'000, &frame, 1, &count),
            A2N_SUCCESS);
  EXPECT_EQ(frame.line, 42u);
  EXPECT_STREQ(frame.file, "a.c");
}

TEST_F(Amplification, MovedCodeSharesItsBytes) {
  const std::string path = write("jit-100.dump", moved_code(1, MiB, 8'000));
  A2nSetCodeGatherMode(1);
  const HeapPeak peak;
  ASSERT_EQ(A2nLoadJittedMethods(pid, A2N_JIT_DUMP, path.c_str(), nullptr), A2N_SUCCESS);
  const unsigned char* code = nullptr;
  uint64_t start = 0;
  size_t length = 0;
  ASSERT_EQ(A2nGetCodeAt(pid, 0x1000 + 8000ull * 0x100000, 1'000'000, &code, &start, &length),
            A2N_SUCCESS);
  EXPECT_EQ(length, MiB);
  EXPECT_EQ(code[MiB - 1], 0x90);
  EXPECT_LT(peak.bytes(), 32 * MiB);
}

TEST_F(Amplification, AHeaderLongerThanTheFileTakesNoMemory) {
  const uint32_t head[] = {0x4a695444, 1, 1 << 28, 62, 0, 100, 0, 0, 0, 0};
  const std::string path =
      write("jit-100.dump", std::string(reinterpret_cast<const char*>(head), sizeof head));
  const HeapPeak peak;
  EXPECT_EQ(A2nLoadJittedMethods(pid, A2N_JIT_DUMP, path.c_str(), nullptr), A2N_JITTED_ERROR);
  EXPECT_THAT(A2nGetErrorText(), HasSubstr(path));
  EXPECT_LT(peak.bytes(), MiB);
}

TEST_F(Amplification, SparseJitFilesAreRefused) {
  const std::string good = write("perf-100.map", "1000 100 good\n");
  for (const int form : {A2N_JIT_LOG, A2N_JIT_DUMP, A2N_JIT_PERF_MAP}) {
    const std::string path = write("sparse", "2000 100 sparse\n");
    if (::truncate(path.c_str(), 17ll << 40) != 0 && ::truncate(path.c_str(), 1ll << 40) != 0)
      GTEST_SKIP() << "this file system has no files of 1 TiB";
    EXPECT_EQ(A2nLoadJittedMethods(pid, form, path.c_str(), nullptr), A2N_JITTED_ERROR);
    EXPECT_THAT(A2nGetErrorText(), testing::AllOf(HasSubstr(path), HasSubstr("are stored")));
  }
  EXPECT_EQ(A2nLoadJittedMethods(pid, A2N_JIT_PERF_MAP, good.c_str(), nullptr), A2N_SUCCESS);
  EXPECT_EQ(symbol_at(0x1000, 1), "good");
}

// An ordinary process can do this: many executable mappings, then repeatedly one more and a fork.
TEST_F(Amplification, ForksOfAProcessWithManyMappingsShareThem) {
  constexpr uint64_t mappings = 30'000, forks = 4'000;
  for (uint64_t i = 0; i < mappings; ++i)
    A2nAddModuleEx(pid, 0x10000000 + 0x2000 * i, 0x1000, "/nowhere/lib", 0, 0, 0);
  const HeapPeak peak;
  for (uint64_t i = 0; i < forks; ++i) {
    A2nSetTime(10 + i);
    A2nAddModuleEx(pid, 0x10000000 + 0x2000 * (i * 7919 % mappings), 0x1000, "/nowhere/new", 0, 0,
                   0);
    A2nForkProcess(pid, 1000 + static_cast<uint32_t>(i));
    A2nAddModuleEx(1000 + static_cast<uint32_t>(i), 0x1000, 0x1000, "/nowhere/own", 0, 0, 0);
  }
  EXPECT_LT(peak.bytes(), 32 * MiB);
  const auto module_at = [](uint32_t process, uint64_t address) {
    SYMDATA data;
    A2nGetSymbolAt(process, address, UINT64_MAX, &data);
    return std::string(data.mod_name);
  };
  const uint64_t hundredth = 0x10000000 + 0x2000 * (100 * 7919 % mappings);
  EXPECT_EQ(module_at(1099, hundredth), "/nowhere/lib");
  EXPECT_EQ(module_at(1100, hundredth), "/nowhere/new");
  EXPECT_EQ(module_at(1100, 0x1000), "/nowhere/own");
  EXPECT_EQ(module_at(pid, 0x1000), "NoModule");
}

}  // namespace
