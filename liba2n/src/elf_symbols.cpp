// SPDX-License-Identifier: MIT
// Function symbols out of an ELF file's symbol tables.
#include "elf_symbols.h"

#include <gelf.h>

#include <cstring>
#include <optional>

#include "elf_dynamic.h"

namespace a2n {
namespace {

constexpr uint64_t max_table_bytes = uint64_t{1} << 30;
constexpr size_t max_name = 32768;

struct Tables {
  Elf_Data* symbols;
  std::string_view names;
};

Elf_Data* section_data(Elf_Scn* section, uint32_t type, GElf_Shdr& header) {
  if (!section || !gelf_getshdr(section, &header)) return nullptr;
  if (header.sh_type != type || (header.sh_flags & SHF_COMPRESSED)) return nullptr;
  if (header.sh_size > max_table_bytes) return nullptr;
  Elf_Data* data = elf_getdata(section, nullptr);
  return data && data->d_buf ? data : nullptr;
}

std::optional<Tables> section_tables(Elf* elf, uint32_t section_type) {
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    Elf_Data* symbols = section_data(section, section_type, header);
    if (!symbols) continue;
    GElf_Shdr names_header;
    Elf_Data* names = section_data(elf_getscn(elf, header.sh_link), SHT_STRTAB, names_header);
    if (!names) continue;
    return Tables{symbols, {static_cast<const char*>(names->d_buf), names->d_size}};
  }
  return std::nullopt;
}

std::string_view name_at(std::string_view names, uint64_t offset) {
  if (offset >= names.size()) return {};
  std::string_view name = names.substr(offset, max_name);
  const size_t end = name.find('\0');
  return end == name.npos ? std::string_view{} : name.substr(0, end);
}

// ".L1" of assemblers, "$x" and "$d" (also "$x.7") of ARM's mapping symbols.
bool is_local_mark(std::string_view name) {
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

std::optional<ElfSymbol> accept(const GElf_Sym& symbol, std::string_view names) {
  const auto type = GELF_ST_TYPE(symbol.st_info);
  const bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
  if (!function && type != STT_NOTYPE) return std::nullopt;
  if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_COMMON) return std::nullopt;
  if (!function && symbol.st_shndx == SHN_ABS) return std::nullopt;  // a constant
  const auto binding = binding_of(symbol.st_info);
  if (!binding) return std::nullopt;
  std::string_view name = name_at(names, symbol.st_name);
  name = name.substr(0, name.find('@'));
  if (name.empty() || is_local_mark(name)) return std::nullopt;
  return ElfSymbol{symbol.st_value, symbol.st_size, name, *binding, function};
}

}  // namespace

bool read_symbols(const ElfFile& file, uint32_t section_type, const ElfSymbolSink& sink) {
  auto tables = section_tables(file.elf(), section_type);
  if (!tables && section_type == SHT_DYNSYM && !file.layout().has_sections) {
    if (auto dynamic = find_dynamic_symbols(file))
      tables = Tables{dynamic->symbols, dynamic->names};
  }
  if (!tables) return false;
  GElf_Sym symbol;
  for (int i = 1; gelf_getsym(tables->symbols, i, &symbol); ++i) {
    if (const auto accepted = accept(symbol, tables->names)) sink(*accepted);
  }
  return true;
}

}  // namespace a2n
