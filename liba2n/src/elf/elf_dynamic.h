// SPDX-License-Identifier: MIT
// The dynamic symbols of a file without section headers, found as the dynamic linker finds them.
#ifndef A2N_ELF_DYNAMIC_H
#define A2N_ELF_DYNAMIC_H

#include <optional>
#include <string_view>

#include "elf_file.h"

namespace a2n {

// Where a virtual address is in the file, and how many bytes its segment has from there on.
struct FilePlace {
  uint64_t offset;
  uint64_t bytes;
};
std::optional<FilePlace> place_of(const ElfLayout& layout, uint64_t vaddr);

struct DynamicSymbols {
  Elf_Data* symbols;  // both live as long as the file
  std::string_view names;
};

std::optional<DynamicSymbols> find_dynamic_symbols(const ElfFile& file);

}  // namespace a2n

#endif  // A2N_ELF_DYNAMIC_H
