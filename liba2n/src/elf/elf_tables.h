// SPDX-License-Identifier: MIT
// Tables of an ELF file, within a limit on their size: libelf keeps each in memory.
#ifndef A2N_ELF_TABLES_H
#define A2N_ELF_TABLES_H

#include <gelf.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace a2n {

// Longer names are cut to this length.
constexpr size_t max_symbol_name = 32768;

// The entries of a section, or null if it has another type, is compressed, or is larger than limit.
Elf_Data* section_data(Elf_Scn* section, uint32_t type, uint64_t limit, GElf_Shdr& header);

// The bytes of data from libelf, valid as long as its file; none if data is null.
std::string_view bytes_of(const Elf_Data* data);

// The name at an offset of a string table, cut to max_symbol_name bytes; "" if there is none.
std::string_view name_at(std::string_view names, uint64_t offset);

}  // namespace a2n

#endif  // A2N_ELF_TABLES_H
