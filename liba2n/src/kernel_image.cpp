// SPDX-License-Identifier: MIT
// Symbols of a kernel image (vmlinux), once it is shown to be the traced kernel's.
#include "kernel_image.h"

#include <cstring>
#include <vector>

#include "elf_symbols.h"

namespace a2n {
namespace {

// What is between the image's symbols and the trace's.
struct Comparison {
  size_t functions = 0;  // of the image, inside the traced kernel's text
  size_t at_symbol = 0;  // of these, how many begin where a traced symbol begins
  size_t same_name = 0;  // and carry its name
};

Comparison compare(const ElfFile& file, uint64_t shift, const KernelSymbols& traced) {
  Comparison result;
  read_symbols(file, SHT_SYMTAB, [&](const ElfSymbol& symbol) {
    const uint64_t address = symbol.value + shift;
    if (!symbol.function || symbol.size == 0 || !traced.core().range.contains(address)) return;
    ++result.functions;
    const Symbol* found = traced.table().find(address);
    if (!found || found->start != address) return;
    ++result.at_symbol;
    if (symbol.name == traced.name(*found)) ++result.same_name;
  });
  return result;
}

// Aliases make names differ at right addresses; a wrong kernel differs in nearly all addresses.
bool fits(const Comparison& comparison) {
  return comparison.functions > 0 && comparison.at_symbol * 100 >= comparison.functions * 99 &&
         comparison.same_name * 2 >= comparison.functions;
}

std::optional<uint64_t> stext_of(const ElfFile& file) {
  std::optional<uint64_t> stext;
  read_symbols(file, SHT_SYMTAB, [&stext](const ElfSymbol& symbol) {
    if (symbol.name == "_stext") stext = symbol.value;
  });
  return stext;
}

}  // namespace

std::optional<KernelImage> load_kernel_image(const std::string& path,
                                             const std::optional<std::string>& traced_build_id,
                                             const KernelSymbols& traced, Notes& notes) {
  const auto refuse = [&](const std::string& reason) {
    notes.add(path + ": " + reason + "; the trace's own kernel symbols are used instead");
    return std::nullopt;
  };
  auto file = ElfFile::open(path);
  if (!file) {
    notes.add(file.error().message + "; the trace's own kernel symbols are used instead");
    return std::nullopt;
  }
  const std::string& build_id = file->layout().build_id;
  const bool id_known = traced_build_id && !traced_build_id->empty() && *traced_build_id != "?";
  if (id_known && !build_id.empty() && build_id != *traced_build_id) {
    return refuse("its build-id is " + build_id + ", that of the traced kernel was " +
                  *traced_build_id);
  }
  const auto stext = stext_of(*file);
  if (!stext) return refuse("it has no symbol _stext (take the vmlinux with symbols)");
  if (!traced.stext()) return refuse("the trace has no kernel symbols to compare it with");
  const uint64_t shift = *traced.stext() - *stext;
  if (!fits(compare(*file, shift, traced))) {
    return refuse("its symbols are not where the traced kernel's are; it is another kernel's");
  }
  SymbolTableBuilder builder;
  read_symbols(*file, SHT_SYMTAB, [&builder](const ElfSymbol& symbol) {
    builder.add(symbol.value, symbol.size, symbol.name, symbol.binding, symbol.function);
  });
  return KernelImage{builder.build(file->layout().code()), shift};
}

}  // namespace a2n
