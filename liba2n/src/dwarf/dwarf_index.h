// SPDX-License-Identifier: MIT
// Source lines and inlined functions out of a file's DWARF.
#ifndef A2N_DWARF_INDEX_H
#define A2N_DWARF_INDEX_H

#include <string>
#include <vector>

#include "elf/elf_file.h"
#include "pi/result.h"
#include "source_index.h"
#include "split_debug.h"

namespace a2n {

// One more whenever read_dwarf() finds more in the same file, or something else: what an earlier
// version kept on disk is not used then.
constexpr unsigned dwarf_reader_version = 3;

struct DwarfIndex {
  SourceIndex index;
  // What a part of it was in, and why that is not used: sentences. Empty: nothing is missing.
  std::vector<std::string> missing;
};

// Reads all of it once. Empty where there is none; what makes no sense is left out, and so is what
// is said of code that is not in the file. An error when it takes more than its budget.
pi::Result<DwarfIndex> read_dwarf(const ElfFile& file, const DebugPlaces& places = {});

}  // namespace a2n

#endif  // A2N_DWARF_INDEX_H
