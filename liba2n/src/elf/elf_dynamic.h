// SPDX-License-Identifier: MIT
// Finds the dynamic symbols of a file without section headers, as the dynamic linker does.
#ifndef A2N_ELF_DYNAMIC_H
#define A2N_ELF_DYNAMIC_H

#include <optional>
#include <string_view>

#include "elf_file.h"

namespace a2n {

// Where a virtual address is in the file, and how many bytes its segment has from there on.
struct FileRange {
  uint64_t offset;
  uint64_t bytes;
};
std::optional<FileRange> file_range(const ElfLayout& layout, uint64_t vaddr);

struct DynamicSymbols {
  Elf_Data* symbols;  // both are valid as long as the ElfFile
  std::string_view names;
};

std::optional<DynamicSymbols> find_dynamic_symbols(const ElfFile& file);

}  // namespace a2n

#endif  // A2N_ELF_DYNAMIC_H
