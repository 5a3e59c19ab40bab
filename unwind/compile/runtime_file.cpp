// SPDX-License-Identifier: MIT
// Which runtime an ELF file contains, by the symbols that it exports.
#include "runtime_file.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace unwind {
namespace {

std::string_view bytes_of(Elf_Scn* section) {
  const Elf_Data* data = section ? elf_rawdata(section, nullptr) : nullptr;
  if (!data || !data->d_buf) return {};
  return {static_cast<const char*>(data->d_buf), data->d_size};
}

void note_symbol(std::string_view name, uint64_t address, RuntimeFile& file) {
  if (name == v8_symbol && file.runtime == Runtime::none) file.runtime = Runtime::v8;
  if (name == python_symbol && file.runtime == Runtime::none) file.runtime = Runtime::python;
  if (!name.starts_with("gHotSpot")) return;
  const auto found = std::ranges::find(hotspot_symbols, name);
  if (found == hotspot_symbols.end()) return;
  file.symbols.resize(hotspot_symbols.size());
  file.symbols[static_cast<size_t>(found - hotspot_symbols.begin())] = address;
}

void read_symbols(std::string_view symbols, std::string_view names, RuntimeFile& file) {
  for (; symbols.size() >= sizeof(Elf64_Sym); symbols.remove_prefix(sizeof(Elf64_Sym))) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, symbols.data(), sizeof symbol);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= names.size()) continue;
    const std::string_view rest = names.substr(symbol.st_name, v8_symbol.size() + 16);
    if (!rest.starts_with("gHot") && !rest.starts_with("_ZN2v87I") && !rest.starts_with("_Py_tr"))
      continue;
    note_symbol(rest.substr(0, rest.find('\0')), symbol.st_value, file);
  }
}

}  // namespace

RuntimeFile find_runtime(Elf* elf) {
  RuntimeFile file;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM) continue;
    read_symbols(bytes_of(section), bytes_of(elf_getscn(elf, header.sh_link)), file);
  }
  if (!file.symbols.empty() && std::ranges::find(file.symbols, 0u) == file.symbols.end())
    file.runtime = Runtime::hotspot;
  else
    file.symbols.clear();
  return file;
}

}  // namespace unwind
