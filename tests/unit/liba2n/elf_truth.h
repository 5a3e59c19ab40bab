// SPDX-License-Identifier: MIT
// Reads an ELF file with binutils, as the reference for liba2n.
#ifndef ELF_TRUTH_H
#define ELF_TRUTH_H

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace truth {

struct NmSymbol {
  uint64_t value;
  uint64_t size;  // 0: none
  char type;
  std::string name;  // without symbol version
};

struct Load {
  uint64_t offset;
  uint64_t vaddr;
  uint64_t file_size;
  uint64_t memory_size;
  bool executable;
};

struct NamedSection {
  std::string name;
  uint64_t address;
  uint64_t size;
};

// The output of a command; throws when it fails.
std::string run(const std::string& command);

// Defined symbols of type T, t, W, w or i inside executable sections.
std::vector<NmSymbol> functions(const std::string& file, bool dynamic = false);
// All names at an address.
std::set<std::string> names_at(const std::vector<NmSymbol>& symbols, uint64_t value);
uint64_t value_of(const std::vector<NmSymbol>& symbols, const std::string& name);

std::vector<Load> loads(const std::string& file);
std::vector<NamedSection> code_sections(const std::string& file);
std::string build_id(const std::string& file);

// The path of an ELF file that fixtures/build.sh created.
std::string fixture(const std::string& name);

}  // namespace truth

#endif  // ELF_TRUTH_H
