// SPDX-License-Identifier: MIT
// Tables of an ELF file, within a limit on their size: libelf keeps each in memory.
#include "elf_tables.h"

#include "elf_memory.h"

namespace a2n {

Elf_Data* section_data(Elf_Scn* section, uint32_t type, uint64_t limit, GElf_Shdr& header) {
  if (!section || !with_memory([&] { return gelf_getshdr(section, &header); })) return nullptr;
  if (header.sh_type != type || (header.sh_flags & SHF_COMPRESSED)) return nullptr;
  if (header.sh_size > limit) return nullptr;
  Elf_Data* data = with_memory([&] { return elf_getdata(section, nullptr); });
  return data && data->d_buf ? data : nullptr;
}

std::string_view bytes_of(const Elf_Data* data) {
  if (!data || !data->d_buf) return {};
  return {static_cast<const char*>(data->d_buf), data->d_size};
}

std::string_view name_at(std::string_view names, uint64_t offset) {
  if (offset >= names.size()) return {};
  const std::string_view name = names.substr(offset, max_symbol_name);
  const size_t end = name.find('\0');
  // Without its end the table is damaged, unless the name only is too long.
  if (end == name.npos) return names.size() - offset > max_symbol_name ? name : std::string_view{};
  return name.substr(0, end);
}

}  // namespace a2n
