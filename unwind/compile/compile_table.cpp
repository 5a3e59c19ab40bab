// SPDX-License-Identifier: MIT
// Compiles the unwind table of an ELF file.
#include "compile_table.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include <pi/dwarf_pointer.h>

#include "cfi_program.h"
#include "table/registers_x86.h"

namespace unwind {
namespace {

constexpr size_t address_size = 8;
constexpr size_t max_program_headers = 64;

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfOwner = std::unique_ptr<Elf, EndElf>;

struct Section {
  Elf_Data* data;
  uint64_t address;
  bool is_eh_frame;
};

// An executable segment. Tables count in bytes of the file: from a mapping, which the kernel
// describes by its place in the file, the segments need not be known.
struct Segment {
  uint64_t address;
  uint64_t offset;
  uint64_t bytes;
};

std::vector<Segment> code_segments(Elf* elf) {
  std::vector<Segment> segments;
  size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return segments;
  for (size_t i = 0; i < std::min<size_t>(count, max_program_headers); ++i) {
    GElf_Phdr header;
    if (!gelf_getphdr(elf, static_cast<int>(i), &header)) break;
    if (header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0)
      segments.push_back({header.p_vaddr, header.p_offset, header.p_filesz});
  }
  return segments;
}

std::string_view text_of(const uint8_t* begin, const uint8_t* end) {
  return {reinterpret_cast<const char*>(begin), static_cast<size_t>(end - begin)};
}

// Bytes that elf_strptr() does not have to uncompress.
std::optional<size_t> section_names(Elf* elf) {
  size_t index = 0;
  GElf_Shdr header;
  if (elf_getshdrstrndx(elf, &index) != 0 || !gelf_getshdr(elf_getscn(elf, index), &header) ||
      (header.sh_flags & SHF_COMPRESSED) != 0)
    return std::nullopt;
  return index;
}

bool unpack(Elf_Scn* section, size_t file_bytes) {
  GElf_Chdr header;
  return gelf_getchdr(section, &header) && header.ch_size <= unpacked_section.of(file_bytes) &&
         elf_compress(section, 0, 0) >= 0;
}

std::optional<Section> find_section(Elf* elf, std::string_view wanted, size_t file_bytes) {
  const auto names = section_names(elf);
  if (!names) return std::nullopt;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS) continue;
    const char* name = elf_strptr(elf, *names, header.sh_name);
    if (!name || wanted != name) continue;
    const bool packed = (header.sh_flags & SHF_COMPRESSED) != 0;
    if (packed && ((header.sh_flags & SHF_ALLOC) != 0 || !unpack(section, file_bytes)))
      return std::nullopt;
    Elf_Data* data = packed ? elf_getdata(section, nullptr) : elf_rawdata(section, nullptr);
    if (!data || !data->d_buf || data->d_size == 0) return std::nullopt;
    return Section{data, header.sh_addr, wanted == ".eh_frame"};
  }
  return std::nullopt;
}

class SectionCompiler {
 public:
  SectionCompiler(const Section& section, const unsigned char* ident,
                  std::span<const Segment> segments)
      : section_(section),
        ident_(ident),
        segments_(segments),
        begin_(static_cast<const uint8_t*>(section.data->d_buf)),
        end_(begin_ + section.data->d_size) {}

  std::vector<std::byte> compile() {
    Dwarf_Off next = 0;
    for (Dwarf_Off at = 0;; at = next) {
      Dwarf_CFI_Entry entry;
      const int outcome =
          dwarf_next_cfi(ident_, section_.data, section_.is_eh_frame, at, &next, &entry);
      if (outcome > 0) break;
      if (outcome < 0) rows_.count_invalid();
      if (next <= at || next > section_.data->d_size) break;
      if (outcome == 0 && !dwarf_cfi_cie_p(&entry)) add_function(entry.fde);
    }
    return rows_.take();
  }

 private:
  const CfiCommon* common_at(Dwarf_Off at) {
    const auto [known, is_new] = commons_.try_emplace(at);
    if (is_new) read_common(at, known->second);
    return known->second.valid ? &known->second : nullptr;
  }

  void read_common(Dwarf_Off at, CfiCommon& common) {
    Dwarf_Off next = 0;
    Dwarf_CFI_Entry entry;
    if (at >= section_.data->d_size ||
        dwarf_next_cfi(ident_, section_.data, section_.is_eh_frame, at, &next, &entry) != 0 ||
        !dwarf_cfi_cie_p(&entry))
      return;
    const Dwarf_CIE& cie = entry.cie;
    if (cie.return_address_register != return_address || !read_augmentation(cie, common)) return;
    common.code_alignment = cie.code_alignment_factor;
    common.data_alignment = cie.data_alignment_factor;
    common.initial = CfiProgram::initial_rule(
        common, text_of(cie.initial_instructions, cie.initial_instructions_end));
    common.valid = true;
  }

  static bool read_augmentation(const Dwarf_CIE& cie, CfiCommon& common) {
    const std::string_view letters = cie.augmentation;
    if (letters.empty()) return true;
    if (letters.front() != 'z') return false;
    common.has_augmentation_size = true;
    pi::DwarfBytes data(
        text_of(cie.augmentation_data, cie.augmentation_data + cie.augmentation_data_size));
    for (const char letter : letters.substr(1)) {
      if (letter == 'R') common.pointer_encoding = static_cast<uint8_t>(data.number(1));
      if (letter == 'L') data.skip(1);
      if (letter == 'P')
        pi::read_pointer_form(data, static_cast<uint8_t>(data.number(1)), address_size);
      if (letter == 'S') common.signal = true;
      if (std::string_view("RLPSB").find(letter) == std::string_view::npos) return false;
    }
    return data.good();
  }

  void add_function(const Dwarf_FDE& fde) {
    const CfiCommon* common = common_at(fde.CIE_pointer);
    if (!common || fde.start < begin_ || fde.start > fde.end || fde.end > end_)
      return rows_.count_invalid();
    const std::string_view bytes = text_of(begin_, fde.end);
    pi::DwarfBytes in(bytes, static_cast<uint64_t>(fde.start - begin_));
    const uint64_t begin =
        pi::read_pointer(in, common->pointer_encoding, address_size, section_.address);
    const uint64_t size = pi::read_pointer_form(in, common->pointer_encoding, address_size);
    if (common->has_augmentation_size) in.skip(in.leb128());
    if (!in.good() || begin + size < begin) return rows_.count_invalid();
    // The linker leaves functions that it has removed at address 0, outside all code.
    const auto segment = std::ranges::find_if(segments_, [=](const Segment& one) {
      return begin >= one.address && begin - one.address < one.bytes;
    });
    if (segment == segments_.end() || size == 0) return;
    const uint64_t place = begin - segment->address + segment->offset;
    const uint64_t space = segment->bytes - (begin - segment->address);
    if (place + space < place) return rows_.count_invalid();
    rows_.begin_function(place, place + std::min(size, space));
    CfiProgram(*common).run(bytes.substr(in.at()), place, rows_);
  }

  const Section& section_;
  const unsigned char* ident_;
  const std::span<const Segment> segments_;
  const uint8_t* begin_;
  const uint8_t* end_;
  std::unordered_map<Dwarf_Off, CfiCommon> commons_;
  TableBuilder rows_;
};

}  // namespace

pi::Result<std::vector<std::byte>> compile_table(std::span<const std::byte> file) {
  elf_version(EV_CURRENT);
  // libelf does not write to bytes that it has not been told to change.
  auto* bytes = const_cast<char*>(reinterpret_cast<const char*>(file.data()));
  const ElfOwner elf(elf_memory(bytes, file.size()));
  GElf_Ehdr header;
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF || !gelf_getehdr(elf.get(), &header))
    return pi::Error{1, "no ELF file"};
  if (header.e_machine != elf_machine || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB)
    return pi::Error{1, "not for this processor"};
  const auto segments = code_segments(elf.get());
  auto section = find_section(elf.get(), ".eh_frame", file.size());
  if (!section) section = find_section(elf.get(), ".debug_frame", file.size());
  if (!section || segments.empty()) return pi::Error{1, "no unwind information"};
  return SectionCompiler(*section, header.e_ident, segments).compile();
}

}  // namespace unwind
