// SPDX-License-Identifier: MIT
// Source lines and inlined functions out of a file's DWARF.
#ifndef A2N_DWARF_INDEX_H
#define A2N_DWARF_INDEX_H

#include "elf_file.h"
#include "pi/result.h"
#include "source_index.h"

namespace a2n {

// Reads all of it once. Empty where there is none; what makes no sense is left out. An error when
// it takes more than its budget.
pi::Result<SourceIndex> read_dwarf(const ElfFile& file);

}  // namespace a2n

#endif  // A2N_DWARF_INDEX_H
