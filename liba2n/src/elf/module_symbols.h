// SPDX-License-Identifier: MIT
// The segments, sections and symbols of one file.
#ifndef A2N_MODULE_SYMBOLS_H
#define A2N_MODULE_SYMBOLS_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "elf_file.h"
#include "symbols/symbol_table.h"
#include "unwind_functions.h"

namespace a2n {

struct ModuleSymbols {
  // The load bias of a mapping of the file or of a part of it: an address minus the bias (modulo
  // 2^64) is the file's virtual address. Nullopt if no segment fits. If the mapping's offset is not
  // known (0 although no code is there), or if only a debug file was read, whose offsets are
  // meaningless, the mapping is taken for the executable segment of that length, or the only one.
  std::optional<uint64_t> bias(uint64_t base, uint64_t length, uint64_t offset) const;

  // The section at a virtual address, or null. If sections overlap, only the one that begins last
  // is checked.
  const Section* section(uint64_t vaddr) const;

  // The function without a symbol of its own at a virtual address, or null.
  const FunctionRange* function(uint64_t vaddr) const;

  bool usable = false;         // a file was read
  bool exact_offsets = false;  // the segments' file offsets are those of the mapped file
  bool is_64 = true;           // ELFCLASS64
  bool exports_only = false;   // all symbols are from .dynsym
  std::vector<Segment> segments;
  std::vector<Section> sections;  // sorted by begin
  SymbolTable symbols;
  std::vector<FunctionRange> functions;  // by start: functions that no symbol with a size covers

  // Origin of the data. The MSI codec does not store these members.
  std::string build_id;                           // "" if the file has none
  std::vector<std::string> files;                 // paths of the files that were read
  std::vector<std::string> search;                // directories that may have debug files
  std::vector<std::string> refused;               // reasons why symbols of these files are missing
  uint64_t code_bytes = 0;                        // size of the file's executable segments
  std::vector<pi::FileIdentity> identities;       // of files, when they were read
  std::optional<uint32_t> owner;                  // of files; root only if all are root's
  std::shared_ptr<const std::string> image = {};  // the file's bytes if it is not on disk (vdso)
};

// Reads a mapped file (or null), its separate debug file (or null), or both.
ModuleSymbols read_module(const ElfFile* mapped, const ElfFile* debug);

}  // namespace a2n

#endif  // A2N_MODULE_SYMBOLS_H
