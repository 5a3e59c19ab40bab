// SPDX-License-Identifier: MIT
// The sections of a file that hold its debug information, unpacked.
#ifndef A2N_DWARF_SECTIONS_H
#define A2N_DWARF_SECTIONS_H

#include <cstdint>
#include <memory>
#include <string_view>

#include "elf/elf_file.h"
#include "pi/result.h"

namespace a2n {

// split: those whose names end in ".dwo".
enum class DwarfPart { whole, split };

// Empty where there is none. The bytes live as long as the file and this or a copy of it.
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
  std::string_view unit_index;           // of a package of split units
  std::string_view supplement;           // the name of another file, NUL, and its build-id
  uint64_t size = 0;                     // of all debug sections, these and others, unpacked
  std::shared_ptr<const void> unpacked;  // bytes that libelf does not keep
};

// An error when they are past their budget or cannot be unpacked; its message begins with the
// file's name.
pi::Result<DwarfSections> read_dwarf_sections(const ElfFile& file, DwarfPart part);

}  // namespace a2n

#endif  // A2N_DWARF_SECTIONS_H
