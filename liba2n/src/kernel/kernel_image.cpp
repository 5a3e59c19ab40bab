// SPDX-License-Identifier: MIT
// Kernel symbols that are not from the trace, and the check that they match the traced kernel.
#include "kernel_image.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/safe_file.h"
#include "elf/build_id.h"
#include "elf/elf_symbols.h"

namespace a2n {
namespace {

constexpr uint64_t max_map = uint64_t{1} << 30;  // bytes

// Result of comparing the symbols of a source with those of the trace.
struct Comparison {
  size_t functions = 0;  // functions of the source inside the traced kernel's text
  size_t at_symbol = 0;  // of these, how many begin at the start of a traced symbol
  size_t same_name = 0;  // of these, how many have the same name
};

Comparison compare(const SymbolTable& symbols, uint64_t shift, const KernelSymbols& traced) {
  Comparison result;
  for (size_t i = 0; i < symbols.size(); ++i) {
    const Symbol& symbol = symbols[i];
    const uint64_t address = symbol.start + shift;
    if (symbol.size_guessed || !traced.core().range.contains(address)) continue;
    ++result.functions;
    const Symbol* found = traced.table().find(address);
    if (!found || found->start != address) continue;
    ++result.at_symbol;
    if (std::strcmp(symbols.name(symbol), traced.name(*found)) == 0) ++result.same_name;
  }
  return result;
}

// In the same kernel, names may differ because of aliases; in another kernel nearly all addresses
// differ.
bool fits(const Comparison& comparison) {
  return comparison.functions > 0 && comparison.at_symbol * 100 >= comparison.functions * 99 &&
         comparison.same_name * 2 >= comparison.functions;
}

}  // namespace

pi::Result<KernelSource> read_kernel_image(const std::string& path) {
  auto file = ElfFile::open(path);
  if (!file) return file.error();
  KernelSource source{path, file->layout().build_id, std::nullopt, {}};
  SymbolTableBuilder builder;
  const auto read = read_symbols(*file, SHT_SYMTAB, [&](const ElfSymbol& symbol) {
    if (symbol.name == "_stext") source.stext = symbol.value;
    builder.add(symbol.value, symbol.size, symbol.name, symbol.binding, symbol.function);
  });
  if (!read) return read.error();
  source.symbols = builder.build(file->layout().code());
  if (!source.stext)
    return pi::Error{EINVAL, path + ": it has no symbol _stext (take the vmlinux with symbols)"};
  return source;
}

pi::Result<KernelSource> read_kernel_map(const std::string& path) {
  auto text = read_text(path, 0, max_map);
  if (!text) return text.error();
  const KernelSymbols map(*text, "");
  if (!map.stext())
    return pi::Error{EINVAL, path +
                                 ": it is no symbol map of a kernel (it has no line "
                                 "\"ADDRESS T _stext\" with an address of the kernel)"};
  return KernelSource{path, "", map.stext(), map.table()};
}

std::optional<KernelImage> match_kernel(KernelSource source,
                                        const std::optional<std::string>& traced_build_id,
                                        const KernelSymbols& traced, bool validate, Notes& notes) {
  if (!source.stext || !traced.stext()) {
    notes.add(source.name + (source.stext ? ": the trace has no kernel symbols" : ": no _stext") +
              ", so the offset of the kernel in memory (KASLR) is not known; not used");
    return std::nullopt;
  }
  const uint64_t shift = *traced.stext() - *source.stext;
  std::string doubt;
  if (traced_build_id && identifies(*traced_build_id) && !source.build_id.empty() &&
      source.build_id != *traced_build_id) {
    doubt = "its build-id is " + source.build_id + ", that of the traced kernel was " +
            *traced_build_id;
  } else if (!fits(compare(source.symbols, shift, traced))) {
    doubt = "its symbols are not where the traced kernel's are; it is another kernel's";
  }
  if (!doubt.empty() && validate) {
    notes.add(source.name + ": " + doubt + "; the trace's own kernel symbols are used instead");
    return std::nullopt;
  }
  if (!doubt.empty()) {
    notes.add(source.name + ": " + doubt + "; used without validation, its names may be wrong");
  }
  return KernelImage{std::move(source.symbols), shift};
}

}  // namespace a2n
