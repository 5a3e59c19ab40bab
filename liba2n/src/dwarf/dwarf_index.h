// SPDX-License-Identifier: MIT
// Reads source lines and inlined functions from a file's DWARF.
#ifndef A2N_DWARF_INDEX_H
#define A2N_DWARF_INDEX_H

#include <string>
#include <vector>

#include "elf/elf_file.h"
#include "pi/result.h"
#include "source_index.h"
#include "split_debug.h"

namespace a2n {

// Increment it whenever the result of read_dwarf() for the same file changes: this invalidates the
// cache on disk.
constexpr unsigned dwarf_reader_version = 3;

struct DwarfIndex {
  SourceIndex index;
  // Sentences that name debug files that could not be used, with the reason. Empty: nothing is
  // missing.
  std::vector<std::string> missing;
};

// Reads all debug information of the file; empty if there is none. Invalid parts are skipped, and
// so is debug information about code that is not in the file. An error if it exceeds its budget.
pi::Result<DwarfIndex> read_dwarf(const ElfFile& file, const DebugSearchPaths& paths = {});

}  // namespace a2n

#endif  // A2N_DWARF_INDEX_H
