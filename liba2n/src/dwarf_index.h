// SPDX-License-Identifier: MIT
// Source lines and inlined functions out of a file's DWARF.
#ifndef A2N_DWARF_INDEX_H
#define A2N_DWARF_INDEX_H

#include "elf_file.h"
#include "pi/result.h"
#include "source_index.h"

namespace a2n {

// One more whenever read_dwarf() finds more in the same file, or something else: what an earlier
// version kept on disk is not used then.
constexpr unsigned dwarf_reader_version = 1;

struct DwarfLines {
  SourceIndex index;
  // False: a file that parts of it were moved to is missing, or cannot be read.
  bool complete = true;
};

// Reads all of it once. Empty where there is none; what makes no sense is left out. An error when
// it takes more than its budget.
pi::Result<DwarfLines> read_dwarf(const ElfFile& file);

}  // namespace a2n

#endif  // A2N_DWARF_INDEX_H
