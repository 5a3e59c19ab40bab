// SPDX-License-Identifier: MIT
// Reads an image's symbols and formats them as nm -a does.
#include "symbol_map.h"

#include <fmt/format.h>
#include <gelf.h>
#include <pi/files.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>

namespace genmap {
namespace {

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};

// By the section's contents; upper case for symbols that other files may refer to.
char section_letter(Elf* elf, size_t index, std::string_view& name) {
  GElf_Shdr header;
  size_t names = 0;
  Elf_Scn* section = elf_getscn(elf, index);
  if (!section || !gelf_getshdr(section, &header) || elf_getshdrstrndx(elf, &names) != 0)
    return '?';
  const char* text = elf_strptr(elf, names, header.sh_name);
  name = text ? text : "";
  if (header.sh_flags & SHF_EXECINSTR) return 't';
  if (header.sh_type == SHT_NOBITS) return 'b';
  if (!(header.sh_flags & SHF_ALLOC)) return name.starts_with(".debug") ? 'N' : 'n';
  return header.sh_flags & SHF_WRITE ? 'd' : 'r';
}

char weak_letter(const GElf_Sym& symbol) {
  const bool object = GELF_ST_TYPE(symbol.st_info) == STT_OBJECT;
  const bool defined = symbol.st_shndx != SHN_UNDEF;
  return object ? (defined ? 'V' : 'v') : (defined ? 'W' : 'w');
}

char letter_of(Elf* elf, const GElf_Sym& symbol, size_t section, std::string_view& section_name) {
  const auto binding = GELF_ST_BIND(symbol.st_info);
  if (symbol.st_shndx == SHN_COMMON) return 'C';
  if (binding == STB_WEAK) return weak_letter(symbol);
  if (symbol.st_shndx == SHN_UNDEF) return 'U';
  if (GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC) return 'i';
  if (binding == STB_GNU_UNIQUE) return 'u';
  const char letter = symbol.st_shndx == SHN_ABS ? 'a' : section_letter(elf, section, section_name);
  return binding == STB_GLOBAL && letter != 'n' && letter != 'N'
             ? static_cast<char>(std::toupper(letter))
             : letter;
}

struct Table {
  Elf_Data* symbols;
  Elf_Data* names;
  Elf_Data* sections;  // numbers of sections beyond 16 bits, or null
};

std::optional<Table> find_table(Elf* elf, uint32_t type) {
  std::optional<Table> table;
  Elf_Data* sections = nullptr;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || (header.sh_flags & SHF_COMPRESSED)) continue;
    if (header.sh_type == SHT_SYMTAB_SHNDX) sections = elf_getdata(section, nullptr);
    if (header.sh_type != type || table) continue;
    Elf_Data* symbols = elf_getdata(section, nullptr);
    Elf_Scn* names = elf_getscn(elf, header.sh_link);
    Elf_Data* names_data = names ? elf_getdata(names, nullptr) : nullptr;
    if (symbols && names_data && names_data->d_buf) table = Table{symbols, names_data, nullptr};
  }
  if (table && type == SHT_SYMTAB) table->sections = sections;
  return table;
}

std::string_view text_at(const Elf_Data* names, size_t offset) {
  if (offset >= names->d_size) return {};
  const char* text = static_cast<const char*>(names->d_buf) + offset;
  return {text, ::strnlen(text, names->d_size - offset)};
}

void read_table(Elf* elf, const Table& table, bool defined_only, std::vector<MapSymbol>& out) {
  GElf_Sym symbol;
  Elf32_Word section = 0;
  for (int i = 1; gelf_getsymshndx(table.symbols, table.sections, i, &symbol, &section); ++i) {
    if (symbol.st_shndx == SHN_UNDEF && defined_only) continue;
    if (symbol.st_shndx != SHN_XINDEX) section = symbol.st_shndx;
    std::string_view name = text_at(table.names, symbol.st_name);
    std::string_view section_name;
    const char letter = letter_of(elf, symbol, section, section_name);
    if (GELF_ST_TYPE(symbol.st_info) == STT_SECTION && name.empty()) name = section_name;
    // Without white space in the name each symbol has one line.
    std::string safe(name);
    std::replace_if(
        safe.begin(), safe.end(),
        [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }, '?');
    out.push_back({symbol.st_value, letter, std::move(safe)});
  }
}

}  // namespace

pi::Result<SymbolMap> read_map(const std::string& path, bool dynamic, bool defined_only) {
  const auto file = pi::open_regular(path);
  if (!file && file.error().code == pi::not_regular)
    return pi::Error{EINVAL, fmt::format("{} is not a regular file.", path)};
  if (!file)
    return pi::Error{file.error().code,
                     fmt::format("cannot open {}: {}.", path, file.error().message)};
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, EndElf> elf(elf_begin(file->fd.get(), ELF_C_READ, nullptr));
  GElf_Ehdr header;
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF || !gelf_getehdr(elf.get(), &header))
    return pi::Error{ENOEXEC,
                     fmt::format("{} is not an ELF file. If it is a compressed kernel, unpack "
                                 "it to a vmlinux first.",
                                 path)};
  SymbolMap map;
  map.is_64 = header.e_ident[EI_CLASS] == ELFCLASS64;
  const auto table = find_table(elf.get(), dynamic ? SHT_DYNSYM : SHT_SYMTAB);
  if (table) read_table(elf.get(), *table, defined_only, map.symbols);
  if (map.symbols.empty())
    return pi::Error{-1, fmt::format("{} has no {}.", path,
                                     dynamic ? "dynamic symbols"
                                             : "symbols: it was stripped. Try -D for the exported "
                                               "symbols, or give its separate debug file")};
  std::sort(map.symbols.begin(), map.symbols.end(), [](const MapSymbol& a, const MapSymbol& b) {
    return std::tie(a.name, a.value) < std::tie(b.name, b.value);
  });
  return map;
}

std::string map_line(const MapSymbol& symbol, bool is_64) {
  const int width = is_64 ? 16 : 8;
  const bool undefined = symbol.type == 'U' || symbol.type == 'w' || symbol.type == 'v';
  return undefined ? fmt::format("{:{}} {} {}\n", "", width, symbol.type, symbol.name)
                   : fmt::format("{:0{}x} {} {}\n", symbol.value, width, symbol.type, symbol.name);
}

}  // namespace genmap
