// SPDX-License-Identifier: MIT
// The debug sections of a file, uncompressed.
#ifndef A2N_DWARF_SECTIONS_H
#define A2N_DWARF_SECTIONS_H

#include <cstdint>
#include <memory>
#include <string_view>

#include "elf/elf_file.h"
#include "pi/result.h"

namespace a2n {

// split: the sections whose names end in ".dwo".
enum class DwarfPart { whole, split };

// Missing sections are empty. The bytes are valid as long as both the file and this object, or a
// copy of it, exist.
struct DwarfSections {
  DwarfPart part = DwarfPart::whole;
  std::string_view info;
  std::string_view abbreviations;
  std::string_view lines;
  std::string_view line_strings;
  std::string_view strings;
  std::string_view string_offsets;
  std::string_view addresses;
  std::string_view ranges;
  std::string_view range_lists;
  std::string_view unit_index;           // .debug_cu_index of a package
  std::string_view supplement;           // .gnu_debugaltlink: file name, NUL, build-id
  uint64_t size = 0;                     // uncompressed size of all debug sections of the file
  std::shared_ptr<const void> unpacked;  // owns the bytes that libelf does not own
};

// Reads the sections. An error if they exceed their budget (EFBIG) or cannot be uncompressed
// (ENOTSUP); its message begins with the file's name.
pi::Result<DwarfSections> read_dwarf_sections(const ElfFile& file, DwarfPart part);

}  // namespace a2n

#endif  // A2N_DWARF_SECTIONS_H
