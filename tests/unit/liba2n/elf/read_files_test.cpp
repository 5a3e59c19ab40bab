// SPDX-License-Identifier: MIT
// Many names of one file, files that change while they are read, and debug files of many modules
// cost no more than the files themselves.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "a2n_fixture.h"
#include "constants.h"
#include "elf_builder.h"
#include "heap.h"

namespace {

namespace fs = std::filesystem;
using test_support::HeapPeak;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

// Bytes that this process has read from files since construction.
class BytesRead {
 public:
  uint64_t count() const { return total() - begin_; }

 private:
  static uint64_t total() {
    std::ifstream io("/proc/self/io");
    std::string name;
    uint64_t value = 0;
    EXPECT_TRUE(io >> name >> value && name == "rchar:") << name;
    return value;
  }
  const uint64_t begin_ = total();
};

class ReadFiles : public A2nTest {
 protected:
  // A file with count symbols, each with a name of its own, and a section of padding bytes.
  static std::string file_with(uint32_t count, const std::string& prefix, size_t padding = 0) {
    std::string names(1, '\0');
    std::vector<ElfBuilder::Entry> entries;
    for (uint32_t i = 0; i < count; ++i) {
      entries.push_back(
          {static_cast<uint32_t>(names.size()), ElfBuilder::code_address + i % 0x1000});
      names += prefix + std::to_string(i) + '\0';
    }
    ElfBuilder elf;
    elf.symbols(entries, names);
    if (padding != 0) elf.section(".padding", SHT_PROGBITS, std::string(padding, 'p'));
    return elf.bytes();
  }
  std::string write(const std::string& name, const std::string& bytes) {
    const std::string path = temporary(name);
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  // Copies of a library with a debug file next to them, each a module of its own.
  class Copies {
   public:
    explicit Copies(const std::string& library)
        : library_(library),
          loads_(truth::loads(library)),
          function_(
              truth::value_of(truth::functions(truth::fixture("libnoid.so")), "local_helper")) {}
    // Looks up a function that only the debug file names, in the copy at path.
    int look_up(const std::string& path, uint64_t nth) const {
      fs::copy(library_, path);
      const uint64_t bias = 0x7f0000000000 + nth * 0x1000000;
      for (const truth::Load& load : loads_)
        if (load.executable)
          A2nAddModuleEx(pid, down(load.vaddr) + bias,
                         up(load.vaddr + load.memory_size) - down(load.vaddr), path.c_str(), 0,
                         down(load.offset), 0);
      return ask(function_ + bias).rc;
    }

   private:
    std::string library_;
    std::vector<truth::Load> loads_;
    uint64_t function_;
  };

  // Maps path as the nth module, and returns the symbol at its first byte.
  static std::string first_symbol(const std::string& path, uint64_t nth) {
    const uint64_t base = 0x7f0000000000 + nth * 0x100000;
    A2nAddModuleEx(pid, base, ElfBuilder::code_size, path.c_str(), 0, ElfBuilder::code_address, 0);
    return name_at(base);
  }
};

TEST_F(ReadFiles, HardLinksOfOneFileAreReadOnce) {
  constexpr uint32_t symbols = 50'000, links = 40;
  const std::string file = write("0.so", file_with(symbols, "name"));
  const HeapPeak peak;
  const BytesRead one;
  ASSERT_EQ(first_symbol(file, 0), "name0");
  EXPECT_GE(one.count(), fs::file_size(file) / 2);  // its symbols
  const uint64_t bytes = peak.bytes();
  const BytesRead others;
  for (uint64_t i = 1; i <= links; ++i) {
    const std::string link = temporary(std::to_string(i) + ".so");
    fs::create_hard_link(file, link);
    ASSERT_EQ(first_symbol(link, i), "name0");
  }
  EXPECT_LT(peak.bytes(), bytes + bytes / 2);
  EXPECT_LT(others.count(), fs::file_size(file) / 2);
  EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(ReadFiles, AFileThatChangesAllTheTimeIsRefused) {
  const std::string file = temporary("changes.so");
  for (uint64_t state = 0; state < 6; ++state) {
    std::ofstream(file, std::ios::binary) << file_with(1, "state" + std::to_string(state) + "_");
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::seconds(100 - state));
    const std::string link = temporary(std::to_string(state) + ".so");
    fs::create_hard_link(file, link);
    EXPECT_EQ(first_symbol(link, state),
              state < 4 ? "state" + std::to_string(state) + "_0" : "NoSymbols");
  }
  EXPECT_THAT(notes(), Contains(HasSubstr("it changes all the time")).Times(2));
}

TEST_F(ReadFiles, ADebugFileIsReadForALimitedNumberOfModules) {
  constexpr uint64_t modules = 66;
  const std::string module = truth::fixture("linked/liblinked.so");
  for (const auto& entry : fs::directory_iterator(fs::path(module).parent_path()))
    if (entry.path() != module) fs::copy(entry.path(), temporary(entry.path().filename()));
  const Copies copies(module);
  for (uint64_t i = 0; i < modules; ++i)
    EXPECT_EQ(copies.look_up(temporary(std::to_string(i) + ".so"), i) == A2N_SUCCESS, i < 64) << i;
  EXPECT_THAT(notes(), Contains(HasSubstr("the debug file of 64 other modules")).Times(2));
}

TEST_F(ReadFiles, TheChecksumOfADebugFileIsComputedOnce) {
  constexpr uint64_t modules = 20;
  constexpr size_t size = size_t{16} << 20;
  const std::string module = truth::fixture("damaged/liblinked.so");
  for (const auto& entry : fs::directory_iterator(fs::path(module).parent_path()))
    if (entry.path() != module) write(entry.path().filename(), file_with(1, "other", size));
  const Copies copies(module);
  const BytesRead read;
  for (uint64_t i = 0; i < modules; ++i)
    EXPECT_EQ(copies.look_up(temporary(std::to_string(i) + ".so"), i), A2N_NO_SYMBOL_FOUND);
  EXPECT_THAT(notes(), Contains(HasSubstr("checksum")).Times(modules));
  EXPECT_GE(read.count(), size);
  EXPECT_LT(read.count(), 2 * size);
}

}  // namespace
