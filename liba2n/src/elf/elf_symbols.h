// SPDX-License-Identifier: MIT
// Function symbols out of an ELF file's symbol tables.
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
  std::string_view name;  // lives as long as the file
  Binding binding;
  bool function;  // not just a label
};

using ElfSymbolSink = std::function<void(const ElfSymbol&)>;

// Hands on every defined symbol that may name code: functions, indirect functions and labels,
// without compilers' and assemblers' local marks; a version is cut off the name. section_type is
// SHT_SYMTAB or SHT_DYNSYM; the latter is found through the program headers where there are no
// sections. Returns whether there was any; an error when the names are past their budget, after
// some were handed on.
pi::Result<bool> read_symbols(const ElfFile& file, uint32_t section_type,
                              const ElfSymbolSink& sink);

// Whether read_symbols() would hand on any.
bool has_symbols(const ElfFile& file, uint32_t section_type);

}  // namespace a2n

#endif  // A2N_ELF_SYMBOLS_H
