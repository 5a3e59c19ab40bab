// SPDX-License-Identifier: MIT
// What is known of one file's code: how it is laid out, its sections and its symbols.
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
  // How a mapping of the file, or a part of it, lies in memory: an address minus this (modulo 2^64)
  // is the file's virtual address. Without a segment that fits, nothing. A mapping whose offset is
  // not known (0 though no code is there), or a file of which there is only a debug file, whose
  // offsets mean nothing: the executable segment of that length, or the only one.
  std::optional<uint64_t> bias(uint64_t base, uint64_t length, uint64_t offset) const;

  // The section at a virtual address, or null; the first in the file where they overlap.
  const Section* section(uint64_t vaddr) const;

  // The function without a symbol of its own at a virtual address, or null.
  const FunctionRange* function(uint64_t vaddr) const;

  bool usable = false;         // there was a file to take all this from
  bool exact_offsets = false;  // the segments' file offsets are those of the mapped file
  bool is_64 = true;           // the file is of 64 bits
  bool exports_only = false;   // the symbols come from .dynsym alone
  std::vector<Segment> segments;
  std::vector<Section> sections;  // by begin
  SymbolTable symbols;
  std::vector<FunctionRange> functions;  // by start: those that no symbol with a size covers

  // Where it comes from; not kept in MSI files, which tell it by their own means.
  std::string build_id;                           // of the file, "" without one
  std::vector<std::string> files;                 // paths of the files it was read from
  std::vector<std::string> search;                // directories that may have debug files
  std::vector<std::string> refused;               // why some of their symbols are not here
  uint64_t code_bytes = 0;                        // of code in the file
  std::vector<pi::FileIdentity> identities;       // of these files, when they were read
  std::shared_ptr<const std::string> image = {};  // the file itself, where it is nowhere on disk
};

// Reads a mapped file (or null), its separate debug file (or null), or both.
ModuleSymbols read_module(const ElfFile* mapped, const ElfFile* debug);

}  // namespace a2n

#endif  // A2N_MODULE_SYMBOLS_H
