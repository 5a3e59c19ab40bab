// SPDX-License-Identifier: MIT
// Builds ELF files that no compiler writes.
#ifndef TESTS_SUPPORT_ELF_BUILDER_H
#define TESTS_SUPPORT_ELF_BUILDER_H

#include <elf.h>

#include <cstdint>
#include <string>
#include <vector>

// A 64-bit shared library with one executable segment at code_address.
class ElfBuilder {
 public:
  static constexpr uint64_t code_address = 0x1000;
  static constexpr uint64_t code_size = 0x1000;

  enum class Code { in_file, none };  // none: the segment has addresses, and no bytes in the file

  explicit ElfBuilder(Code code = Code::in_file);

  // Returns the section's index.
  uint32_t section(const std::string& name, uint32_t type, std::string bytes, uint32_t link = 0,
                   uint64_t flags = 0, uint64_t address = 0);
  // The bytes at code_address, of a file with code.
  void code(const std::string& bytes) { body_.replace(code_address, bytes.size(), bytes); }
  // Adds the symbol table and its string table; entries: st_name and st_value.
  struct Entry {
    uint32_t name;
    uint64_t value;
  };
  void symbols(const std::vector<Entry>& entries, std::string names);
  std::string bytes() const;

  // A file with one symbol, "nnnn", and DWARF 4: count functions are inlined there, each with the
  // same list of ranges.
  static std::string inlined_on_one_list(uint32_t count, uint32_t ranges);

  // The little-endian bytes of a value.
  template <class T>
  static std::string raw(const T& value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  }

 private:
  std::string body_;  // the file's bytes after the ELF header
  std::string names_;
  std::vector<Elf64_Shdr> headers_;
};

#endif  // TESTS_SUPPORT_ELF_BUILDER_H
