// SPDX-License-Identifier: MIT
// Reads function symbols from an ELF file's symbol tables.
#ifndef A2N_ELF_SYMBOLS_H
#define A2N_ELF_SYMBOLS_H

#include <cstdint>
#include <functional>
#include <string_view>

#include "elf_file.h"
#include "pi/result.h"
#include "symbols/symbol_table.h"

namespace a2n {

struct ElfSymbol {
  uint64_t value;
  uint64_t size;
  std::string_view name;  // valid as long as the ElfFile
  Binding binding;
  bool function;  // false: a label (STT_NOTYPE)
};

using ElfSymbolSink = std::function<void(const ElfSymbol&)>;

// Passes every defined symbol that may name code to sink: functions, indirect functions and labels,
// but no local labels of compilers and assemblers. Symbol versions are removed from names.
// section_type is SHT_SYMTAB or SHT_DYNSYM; in a file without section headers SHT_DYNSYM is found
// through the program headers. Returns whether any symbol was passed on. If the names exceed their
// budget it returns an error, after some symbols were passed on.
pi::Result<bool> read_symbols(const ElfFile& file, uint32_t section_type,
                              const ElfSymbolSink& sink);

// Whether read_symbols() would pass on any symbol.
bool has_symbols(const ElfFile& file, uint32_t section_type);

}  // namespace a2n

#endif  // A2N_ELF_SYMBOLS_H
