// SPDX-License-Identifier: MIT
// Damaged ELF files: lookups return, with results inside the mapping.
#include <gmock/gmock.h>

#include <fstream>
#include <random>

#include "a2n_fixture.h"
#include "constants.h"
#include "input_stride.h"

namespace {

using truth::fixture;

using test::bias;

class HostileElf : public A2nTest {
 protected:
  static std::string read(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(in)), {});
  }

  // Looks up a few hundred addresses in a file with these bytes.
  void try_bytes(const std::string& bytes) {
    const std::string file = temporary("hostile.so");
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    A2nInit();
    A2nSetDemangleCppNamesMode(1);
    A2nAddModuleEx(pid, bias, 0x1000, file.c_str(), 0, 0x1000, 0);
    A2nAddModuleEx(pid, bias + 0x10000, 0x4000, file.c_str(), 0, 0, 0);
    for (uint64_t at = 0; at < 0x1000; at += 13) {
      for (const uint64_t mapping : {bias, bias + 0x10000}) {
        const Answer answer = ask(mapping + at);
        const char* const linked = A2nGetPltNameAt(pid, mapping + at, 0);
        ASSERT_TRUE(!linked || *linked);
        ASSERT_THAT(answer.rc, testing::AnyOf(A2N_SUCCESS, A2N_NO_SYMBOL_FOUND, A2N_NO_SYMBOLS,
                                              A2N_FLAKY_SYMBOL));
        ASSERT_EQ(answer.module, file);
        ASSERT_NE(answer.data.sym_name, nullptr);
      }
    }
  }
};

const char* const files[] = {"libfull.so", "libgnuhash.so", "libmini.so", "linked/liblinked.so"};

TEST_F(HostileElf, TruncatedFilesAreHandled) {
  for (const char* file : files) {
    const std::string bytes = read(fixture(file));
    for (size_t size = 0; size < bytes.size();
         size += (size < 0x200 ? 7 : 173) * test_support::input_stride()) {
      try_bytes(bytes.substr(0, size));
    }
  }
}

TEST_F(HostileElf, FlippedBitsAreHandled) {
  std::mt19937 random(11);
  for (const char* file : files) {
    const std::string bytes = read(fixture(file));
    for (size_t i = 0; i < 300; i += test_support::input_stride()) {
      std::string damaged = bytes;
      for (size_t k = 0; k < 1 + random() % 20; ++k) {
        damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
      }
      try_bytes(damaged);
    }
  }
}

// Damages the ELF header, the program headers and the section headers.
TEST_F(HostileElf, ExtremeNumbersInHeadersAreHandled) {
  std::mt19937 random(12);
  const unsigned char wild[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
  for (const char* file : files) {
    const std::string bytes = read(fixture(file));
    const size_t sections = *reinterpret_cast<const uint64_t*>(bytes.data() + 0x28);
    for (size_t i = 0; i < 300; i += test_support::input_stride()) {
      std::string damaged = bytes;
      const size_t from = i % 2 ? 0 : sections;
      const size_t span = i % 2 ? 0x2a0 : bytes.size() - sections;
      for (int k = 0; k < 3; ++k) {
        const size_t at = from + random() % span;
        const size_t length = std::min<size_t>(size_t{1} << random() % 4, damaged.size() - at);
        for (size_t n = 0; n < length; ++n) damaged[at + n] = static_cast<char>(wild[random() % 5]);
      }
      try_bytes(damaged);
    }
  }
}

TEST_F(HostileElf, DamagedDynamicSegmentsAreHandled) {
  std::mt19937 random(13);
  std::string bytes = read(fixture("libgnuhash.so"));
  std::fill_n(bytes.begin() + 0x28, 8, '\0');
  std::fill_n(bytes.begin() + 0x3a, 6, '\0');
  const auto loads = truth::loads(fixture("libgnuhash.so"));
  for (size_t i = 0; i < 500; i += test_support::input_stride()) {
    std::string damaged = bytes;
    for (int k = 0; k < 4; ++k) {
      // Damage the tables at the beginning of the file, or the dynamic segment in the data.
      const size_t at =
          random() % 2 ? random() % 0x800 : loads.back().offset + random() % loads.back().file_size;
      damaged[at % damaged.size()] = static_cast<char>(random());
    }
    try_bytes(damaged);
  }
}

TEST_F(HostileElf, FilesThatAreNotElfAreNoted) {
  try_bytes("#!/bin/sh\necho no elf\n");
  ASSERT_NE(A2nGetNote(0), nullptr);
  EXPECT_THAT(A2nGetNote(0), testing::HasSubstr("not an ELF file"));
  try_bytes("");
  ASSERT_NE(A2nGetNote(0), nullptr);
}

}  // namespace
