// SPDX-License-Identifier: MIT
// Reads function symbols from an ELF file's symbol tables.
#include "elf_symbols.h"

#include <gelf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "base/budgets.h"
#include "elf_dynamic.h"
#include "elf_tables.h"

namespace a2n {
namespace {

constexpr uint64_t max_table_bytes = uint64_t{1} << 30;

struct Tables {
  Elf_Data* symbols;
  std::string_view names;
};

std::optional<Tables> section_tables(Elf* elf, uint32_t section_type) {
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_type != section_type) continue;
    // A valid file has at most one table of a type. Only the first is read: libelf keeps each table
    // in memory.
    GElf_Shdr names_header;
    Elf_Data* names =
        section_data(elf_getscn(elf, header.sh_link), SHT_STRTAB, max_table_bytes, names_header);
    Elf_Data* symbols =
        names ? section_data(section, section_type, max_table_bytes, header) : nullptr;
    if (!symbols) return std::nullopt;
    return Tables{symbols, {static_cast<const char*>(names->d_buf), names->d_size}};
  }
  return std::nullopt;
}

// Assembler labels (".L1") and ARM mapping symbols ("$x", "$d", also "$x.7").
bool is_local_label(std::string_view name) {
  if (name.starts_with(".L")) return true;
  return name.size() >= 2 && name[0] == '$' && (name.size() == 2 || name[2] == '.');
}

std::optional<Binding> binding_of(unsigned char info) {
  switch (GELF_ST_BIND(info)) {
    case STB_GLOBAL:
    case STB_GNU_UNIQUE:
      return Binding::global;
    case STB_WEAK:
      return Binding::weak;
    case STB_LOCAL:
      return Binding::local;
    default:
      return std::nullopt;
  }
}

// Converts a symbol; nullopt if it cannot name code. Adds the bytes read for its name to seen.
std::optional<ElfSymbol> accept(const GElf_Sym& symbol, std::string_view names, uint64_t& seen) {
  const auto type = GELF_ST_TYPE(symbol.st_info);
  const bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
  if (!function && type != STT_NOTYPE) return std::nullopt;
  if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_COMMON) return std::nullopt;
  if (!function && symbol.st_shndx == SHN_ABS) return std::nullopt;  // a constant
  const auto binding = binding_of(symbol.st_info);
  if (!binding) return std::nullopt;
  std::string_view name = name_at(names, symbol.st_name);
  seen += name.empty() ? std::min(max_symbol_name, names.size()) : name.size() + 1;
  name = name.substr(0, name.find('@'));
  if (name.empty() || is_local_label(name)) return std::nullopt;
  return ElfSymbol{symbol.st_value, symbol.st_size, name, *binding, function};
}

std::optional<Tables> tables_of(const ElfFile& file, uint32_t section_type) {
  auto tables = section_tables(file.elf(), section_type);
  if (!tables && section_type == SHT_DYNSYM && !file.layout().has_sections) {
    if (auto dynamic = find_dynamic_symbols(file))
      tables = Tables{dynamic->symbols, dynamic->names};
  }
  return tables;
}

// Calls use(symbol) for each accepted symbol, until it returns false. Returns false if the total
// length of the names exceeds name_bytes.
template <class Use>
bool for_each_symbol(const Tables& tables, uint64_t name_bytes, Use use) {
  GElf_Sym symbol;
  uint64_t seen = 0;
  for (int i = 1; gelf_getsym(tables.symbols, i, &symbol); ++i) {
    const auto accepted = accept(symbol, tables.names, seen);
    if (seen > name_bytes) return false;
    if (accepted && !use(*accepted)) break;
  }
  return true;
}

}  // namespace

pi::Result<bool> read_symbols(const ElfFile& file, uint32_t section_type,
                              const ElfSymbolSink& sink) {
  const auto tables = tables_of(file, section_type);
  if (!tables) return false;
  const uint64_t name_bytes = budgets::symbol_names.of(file.stored());
  bool any = false;
  if (for_each_symbol(*tables, name_bytes,
                      [&](const ElfSymbol& symbol) { return sink(symbol), any = true; }))
    return any;
  return pi::Error{EFBIG, file.name() + ": the names of its symbols add up to more than " +
                              std::to_string(name_bytes) +
                              " bytes, because many symbols share long names; the symbols are not "
                              "used"};
}

bool has_symbols(const ElfFile& file, uint32_t section_type) {
  const auto tables = tables_of(file, section_type);
  bool any = false;
  if (tables)
    for_each_symbol(*tables, budgets::symbol_names.of(file.stored()),
                    [&](const ElfSymbol&) { return !(any = true); });
  return any;
}

}  // namespace a2n
