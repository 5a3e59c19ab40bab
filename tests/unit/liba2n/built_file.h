// SPDX-License-Identifier: MIT
// Fixture for lookups in a mapped ELF file that the test builds, with further files next to it.
#ifndef BUILT_FILE_H
#define BUILT_FILE_H

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "a2n_fixture.h"
#include "effort.h"
#include "elf_builder.h"

class BuiltFile : public A2nTest {
 protected:
  struct DebugSection {
    const char* name;
    std::string bytes;
    uint64_t flags = 0;
  };

  // The bytes of a file with one symbol, "nnnn", and these sections.
  static std::string with_sections(const std::vector<DebugSection>& sections) {
    ElfBuilder elf;
    elf.symbols({{1, ElfBuilder::code_address}}, std::string("\0nnnn", 6));
    for (const auto& [name, bytes, flags] : sections)
      elf.section(name, SHT_PROGBITS, bytes, 0, flags);
    return elf.bytes();
  }

  // Writes a file in the directory of the mapped file and returns its path.
  std::string write(const std::string& name, const std::string& bytes) {
    const std::string path = temporary(name);
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  void write_and_map(const std::string& bytes) {
    path_ = write("built.so", bytes);
    A2nAddModuleEx(pid, base, ElfBuilder::code_size, path_.c_str(), 0, ElfBuilder::code_address, 0);
  }

  // "name line" of each frame, innermost first; offset: from the start of the code.
  static std::vector<std::string> frames_at(uint64_t offset) {
    A2N_FRAME found[8];
    size_t count = 0;
    std::vector<std::string> text;
    if (A2nGetFramesAt(pid, base + offset, 0, found, 8, &count) != A2N_SUCCESS) return text;
    for (size_t i = 0; i < std::min<size_t>(count, 8); ++i)
      text.push_back(std::string(found[i].name ? found[i].name : "??") + " " +
                     std::to_string(found[i].line));
    return text;
  }

  // The effort of the first lookup of lines.
  static double effort_of_lookup() {
    const test_support::Effort effort;
    frames_at(0);
    return effort.spent();
  }

  static constexpr uint64_t base = 0x7f1234500000;
  static constexpr uint64_t code = ElfBuilder::code_address;
  std::string path_;
};

#endif  // BUILT_FILE_H
