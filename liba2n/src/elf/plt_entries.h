// SPDX-License-Identifier: MIT
// The functions to which the entries of procedure linkage tables (PLT) lead.
#ifndef A2N_PLT_ENTRIES_H
#define A2N_PLT_ENTRIES_H

#include <cstdint>
#include <string>
#include <vector>

#include "elf_file.h"

namespace a2n {

struct PltEntry {
  uint64_t start;  // virtual address
  uint64_t size;
  std::string name;   // as in the dynamic symbols; empty: see resolver
  uint64_t resolver;  // virtual address of the indirect function without a dynamic symbol; else 0

  bool contains(uint64_t vaddr) const { return vaddr >= start && vaddr - start < size; }
};

// The entries of .plt, .plt.sec, .plt.got and similar sections of an x86 file, by start. An entry
// jumps through a slot of the global offset table, for which the file has a relocation with the
// function's symbol. Entries that do not, as those of a .plt beside a .plt.sec, are left out, as is
// what exceeds budgets::linkage_tables.
std::vector<PltEntry> read_plt_entries(const ElfFile& file);

}  // namespace a2n

#endif  // A2N_PLT_ENTRIES_H
