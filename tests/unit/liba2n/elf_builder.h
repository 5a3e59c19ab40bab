// SPDX-License-Identifier: MIT
// Puts together ELF files that no compiler makes.
#ifndef ELF_BUILDER_H
#define ELF_BUILDER_H

#include <elf.h>

#include <cstdint>
#include <string>
#include <vector>

// A shared library of 64 bits with one executable segment, whose code begins at code_address.
class ElfBuilder {
 public:
  static constexpr uint64_t code_address = 0x1000;
  static constexpr uint64_t code_size = 0x1000;

  ElfBuilder();

  // Returns the section's index.
  uint32_t section(const std::string& name, uint32_t type, std::string bytes, uint32_t link = 0,
                   uint64_t flags = 0);
  // The symbol table and its names; entries: st_name and st_value.
  struct Entry {
    uint32_t name;
    uint64_t value;
  };
  void symbols(const std::vector<Entry>& entries, std::string names);
  std::string bytes() const;

  // The bytes of a value, the lowest first.
  template <class T>
  static std::string raw(const T& value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  }

 private:
  std::string body_;  // from the file's beginning, the ELF header aside
  std::string names_;
  std::vector<Elf64_Shdr> headers_;
};

#endif  // ELF_BUILDER_H
