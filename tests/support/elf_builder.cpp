// SPDX-License-Identifier: MIT
// Builds ELF files that no compiler writes.
#include "elf_builder.h"

#include <cstring>

ElfBuilder::ElfBuilder(Code code) : names_(1, '\0'), headers_(1) {
  const bool in_file = code == Code::in_file;
  body_.resize(in_file ? code_address + code_size : sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr));
  Elf64_Phdr segment{};
  segment.p_type = PT_LOAD;
  segment.p_flags = PF_R | PF_X;
  segment.p_vaddr = code_address;
  segment.p_offset = in_file ? code_address : 0;
  segment.p_filesz = in_file ? code_size : 0;
  segment.p_memsz = code_size;
  segment.p_align = 0x1000;
  std::memcpy(body_.data() + sizeof(Elf64_Ehdr), &segment, sizeof segment);
  names_ += ".text";
  names_ += '\0';
  Elf64_Shdr text{};
  text.sh_name = 1;
  text.sh_type = in_file ? SHT_PROGBITS : SHT_NOBITS;
  text.sh_flags = SHF_ALLOC | SHF_EXECINSTR;
  text.sh_addr = code_address;
  text.sh_offset = segment.p_offset;
  text.sh_size = code_size;
  headers_.push_back(text);
}

uint32_t ElfBuilder::section(const std::string& name, uint32_t type, std::string bytes,
                             uint32_t link, uint64_t flags, uint64_t address) {
  Elf64_Shdr header{};
  header.sh_name = static_cast<uint32_t>(names_.size());
  header.sh_type = type;
  header.sh_flags = flags;
  header.sh_addr = address;
  header.sh_offset = body_.size();
  header.sh_size = bytes.size();
  header.sh_link = link;
  header.sh_addralign = 8;
  if (type == SHT_SYMTAB || type == SHT_DYNSYM) header.sh_entsize = sizeof(Elf64_Sym);
  if (type == SHT_RELA) header.sh_entsize = sizeof(Elf64_Rela);
  names_ += name + '\0';
  body_ += bytes;
  body_.resize((body_.size() + 7) & ~size_t{7});
  headers_.push_back(header);
  return static_cast<uint32_t>(headers_.size() - 1);
}

void ElfBuilder::symbols(const std::vector<Entry>& entries, std::string names) {
  const uint32_t link = section(".strtab", SHT_STRTAB, std::move(names));
  std::string table(sizeof(Elf64_Sym), '\0');
  for (const Entry& entry : entries) {
    Elf64_Sym symbol{};
    symbol.st_name = entry.name;
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = 1;
    symbol.st_value = entry.value;
    table += raw(symbol);
  }
  section(".symtab", SHT_SYMTAB, std::move(table), link);
}

std::string ElfBuilder::bytes() const {
  ElfBuilder whole = *this;
  const uint32_t names = whole.section(".shstrtab", SHT_STRTAB, names_ + ".shstrtab" + '\0');
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof header;
  header.e_shoff = whole.body_.size();
  header.e_ehsize = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<uint16_t>(whole.headers_.size());
  header.e_shstrndx = static_cast<uint16_t>(names);
  std::memcpy(whole.body_.data(), &header, sizeof header);
  for (const Elf64_Shdr& section_header : whole.headers_) whole.body_ += raw(section_header);
  return whole.body_;
}

std::string ElfBuilder::inlined_on_one_list(uint32_t count, uint32_t ranges) {
  using E = ElfBuilder;
  // Abbreviations: compile_unit; subprogram with low_pc; inlined_subroutine with ranges.
  const char abbreviations[] =
      "\x01\x11\x01\x00\x00\x02\x2e\x01\x11\x01\x00\x00\x03\x1d\x00\x55\x17\x00\x00";
  std::string entries = "\x01\x02" + E::raw(E::code_address);
  for (uint32_t i = 0; i < count; ++i) entries += "\x03" + E::raw(uint32_t{0});
  entries += std::string(2, '\0');
  std::string info = E::raw(static_cast<uint32_t>(7 + entries.size())) + E::raw(uint16_t{4}) +
                     E::raw(uint32_t{0}) + '\x08' + entries;
  std::string list;
  for (uint64_t i = 0; i < ranges; ++i)
    list += E::raw(E::code_address + 2 * i) + E::raw(E::code_address + 2 * i + 1);
  list += std::string(16, '\0');
  E elf;
  elf.symbols({{1, E::code_address}}, std::string("\0nnnn", 6));
  elf.section(".debug_abbrev", SHT_PROGBITS, std::string(abbreviations, sizeof abbreviations));
  elf.section(".debug_info", SHT_PROGBITS, info);
  elf.section(".debug_ranges", SHT_PROGBITS, list);
  return elf.bytes();
}
