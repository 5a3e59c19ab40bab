// SPDX-License-Identifier: MIT
// Finds the dynamic symbols of a file without section headers, as the dynamic linker does.
#ifndef A2N_ELF_DYNAMIC_H
#define A2N_ELF_DYNAMIC_H

#include <optional>
#include <string_view>

#include "elf_file.h"

namespace a2n {

struct DynamicSymbols {
  Elf_Data* symbols;  // both are valid as long as the ElfFile
  std::string_view names;
};

std::optional<DynamicSymbols> find_dynamic_symbols(const ElfFile& file);

}  // namespace a2n

#endif  // A2N_ELF_DYNAMIC_H
