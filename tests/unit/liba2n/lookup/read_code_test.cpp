// SPDX-License-Identifier: MIT
// Bytes of code at any address, compared with the memory of this process.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "a2n_fixture.h"
#include "constants.h"

namespace {

using test::bias;

struct Mapping {
  uint64_t begin;
  uint64_t end;
  uint64_t offset;
  std::string name;
};

std::vector<Mapping> own_code() {
  std::vector<Mapping> mappings;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string range, rights, offset, device, inode, name;
    words >> range >> rights >> offset >> device >> inode >> name;
    if (rights.size() < 3 || rights[2] != 'x' || name.empty() || name == "[vsyscall]") continue;
    mappings.push_back({std::stoull(range, nullptr, 16),
                        std::stoull(range.substr(range.find('-') + 1), nullptr, 16),
                        std::stoull(offset, nullptr, 16), name});
  }
  return mappings;
}

class ReadCode : public A2nTest {
 protected:
  static std::string read(uint64_t address, size_t room) {
    std::string bytes(room, '\0');
    size_t length = 0;
    const int rc = A2nReadCodeAt(pid, address, 0, reinterpret_cast<unsigned char*>(bytes.data()),
                                 room, &length);
    EXPECT_EQ(rc == A2N_SUCCESS, length != 0);
    bytes.resize(length);
    return bytes;
  }
};

TEST_F(ReadCode, EqualsTheProcessMemory) {
  A2nCreateProcess(pid);
  size_t files = 0;
  for (const Mapping& mapping : own_code()) {
    const bool vdso = mapping.name == "[vdso]";
    ASSERT_EQ(A2nAddModuleEx(pid, mapping.begin, mapping.end - mapping.begin, mapping.name.c_str(),
                             vdso ? A2N_STAMP_VDSO : 0, mapping.offset, 0),
              A2N_SUCCESS);
    // Includes reads across the cached pieces of files and at the mapping's end.
    for (uint64_t at = mapping.begin; at < mapping.end; at += 65536 - 40) {
      const std::string bytes = read(at, 100);
      if (bytes.empty()) continue;
      ++files;
      EXPECT_LE(at + bytes.size(), mapping.end);
      EXPECT_EQ(std::memcmp(bytes.data(), reinterpret_cast<const void*>(at), bytes.size()), 0)
          << mapping.name << " " << std::hex << at;
    }
    EXPECT_FALSE(read(mapping.begin, 16).empty()) << mapping.name;
  }
  EXPECT_GE(files, 5u);
}

// The other file has the same build-id, but not the bytes that belong to the symbols.
TEST_F(ReadCode, IsEmptyAfterTheFileWasReplaced) {
  const std::string file = temporary("libfull.so"), other = temporary("other.so");
  std::filesystem::copy_file(truth::fixture("libfull.so"), file);
  std::filesystem::copy_file(file, other);
  A2nCreateProcess(pid);
  map(file, bias);
  const uint64_t address = truth::value_of(truth::functions(file), "entry") + bias;
  EXPECT_EQ(read(address, 8).size(), 8u);
  A2nInit();
  A2nCreateProcess(pid);
  map(file, bias);
  ASSERT_EQ(ask(address).rc, A2N_SUCCESS);
  std::filesystem::rename(other, file);
  EXPECT_TRUE(read(address, 8).empty());
}

TEST_F(ReadCode, IsEmptyForUnknownAddresses) {
  A2nCreateProcess(pid);
  EXPECT_TRUE(read(0x1000, 16).empty());
  EXPECT_TRUE(read(0xffffffff81000000, 16).empty());
  EXPECT_TRUE(read(UINT64_MAX, 16).empty());
  EXPECT_TRUE(read(0xffffffffff600000, 16).empty());
  A2nAddModuleEx(pid, 0x400000, 0x1000, "/nonexistent", 0, 0, 0);
  EXPECT_TRUE(read(0x400000, 16).empty());
  size_t length = 1;
  EXPECT_EQ(A2nReadCodeAt(pid, 0, 0, nullptr, 0, nullptr), A2N_NULL_SYMDATA);
  EXPECT_EQ(A2nReadCodeAt(pid, 0, 0, nullptr, 1, &length), A2N_NULL_SYMDATA);
}

TEST_F(ReadCode, AJittedMethodHasTheReportedCode) {
  A2nCreateProcess(pid);
  A2nAddJittedMethod(pid, "demo.run()V", 0x7000, 8, "abcdefgh");
  A2nAddJittedMethod(pid, "demo.bare()V", 0x8000, 8, nullptr);
  EXPECT_EQ(read(0x7000, 100), "abcdefgh");
  EXPECT_EQ(read(0x7005, 2), "fg");
  EXPECT_TRUE(read(0x8000, 4).empty());
}

}  // namespace
