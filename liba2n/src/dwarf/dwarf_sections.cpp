// SPDX-License-Identifier: MIT
// The debug sections of a file, uncompressed.
#include "dwarf_sections.h"

#include <gelf.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/budgets.h"
#include "elf/elf_memory.h"
#include "elf/elf_tables.h"

namespace a2n {
namespace {

constexpr uint32_t packed_by_zstd = 2;  // ELFCOMPRESS_ZSTD, which libelf 0.188 does not know

struct DebugSection {
  Elf_Scn* section;
  std::string_view kind;  // ".zdebug_info.dwo" is "debug_info"
  DwarfPart part;
  bool old_packing;  // .zdebug_, the GNU format
  bool packed;       // SHF_COMPRESSED
  uint32_t packing;  // ELFCOMPRESS_*; 0: none or not known
  uint64_t size;     // uncompressed, in bytes
  uint64_t stored;   // compressed, in bytes; 0 if it is not compressed
};

// The compression type and the uncompressed size of a section. Only the compression header is
// read: libelf keeps all section data that it reads, and many sections may share the same bytes of
// a file.
struct Packing {
  uint32_t type;
  uint64_t size;
};
Packing packing_of(Elf* elf, const GElf_Shdr& header, bool old_packing) {
  const bool packed = (header.sh_flags & SHF_COMPRESSED) != 0;
  if (!old_packing && !packed) return {0, header.sh_size};
  const bool wide = gelf_getclass(elf) == ELFCLASS64;
  const size_t head = !old_packing && wide ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
  if (header.sh_size < head || header.sh_offset > INT64_MAX) return {0, 0};
  const Elf_Data* const data = with_memory([&] {
    return elf_getdata_rawchunk(elf, static_cast<int64_t>(header.sh_offset), head, ELF_T_BYTE);
  });
  if (!data || !data->d_buf) return {0, 0};
  if (old_packing) {
    // "ZLIB" and the size, big-endian.
    uint64_t size = 0;
    std::memcpy(&size, static_cast<const char*>(data->d_buf) + 4, sizeof size);
    return {0, __builtin_bswap64(size)};
  }
  if (wide) {
    Elf64_Chdr fields;
    std::memcpy(&fields, data->d_buf, sizeof fields);
    return {fields.ch_type, fields.ch_size};
  }
  Elf32_Chdr fields;
  std::memcpy(&fields, data->d_buf, sizeof fields);
  return {fields.ch_type, fields.ch_size};
}

std::vector<DebugSection> find_debug_sections(Elf* elf) {
  std::vector<DebugSection> found;
  const auto names = section_name_table(elf);
  if (!names) return found;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    const char* const text =
        gelf_getshdr(section, &header)
            ? with_memory([&] { return elf_strptr(elf, *names, header.sh_name); })
            : nullptr;
    // Sections of a COMDAT group repeat those of another object file.
    if (!text || header.sh_type == SHT_NOBITS || (header.sh_flags & SHF_GROUP) != 0) continue;
    std::string_view kind(text, strnlen(text, 40));
    if (!kind.starts_with('.')) continue;
    const bool old_packing = kind.starts_with(".z");
    kind.remove_prefix(old_packing ? 2 : 1);
    const bool split = kind.ends_with(".dwo");
    if (split) kind.remove_suffix(4);
    if (!kind.starts_with("debug_") && kind != "gnu_debugaltlink") continue;
    const bool packed = (header.sh_flags & SHF_COMPRESSED) != 0;
    const Packing packing = packing_of(elf, header, old_packing);
    found.push_back({section, kind, split ? DwarfPart::split : DwarfPart::whole, old_packing,
                     packed, packing.type, packing.size,
                     old_packing || packed ? header.sh_size : 0});
  }
  return found;
}

// Sections that libelf cannot uncompress and therefore does not own.
using UnpackedBytes = std::vector<std::unique_ptr<char[]>>;

std::optional<std::string_view> unpack_zstd(const DebugSection& debug, bool wide,
                                            UnpackedBytes& kept) {
  std::string_view packed =
      bytes_of(with_memory([&] { return elf_rawdata(debug.section, nullptr); }));
  const size_t head = wide ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
  if (packed.size() < head) return std::nullopt;
  packed.remove_prefix(head);
  auto bytes = std::make_unique_for_overwrite<char[]>(debug.size);
  const size_t size = ZSTD_decompress(bytes.get(), debug.size, packed.data(), packed.size());
  if (ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation) throw std::bad_alloc();
  if (ZSTD_isError(size) != 0 || size != debug.size) return std::nullopt;
  kept.push_back(std::move(bytes));
  return std::string_view(kept.back().get(), size);
}

// The uncompressed bytes; nullopt if they are damaged or the compression is not known.
std::optional<std::string_view> unpack(const DebugSection& debug, bool wide, UnpackedBytes& kept) {
  if (debug.packed && debug.packing == packed_by_zstd) return unpack_zstd(debug, wide, kept);
  if (debug.old_packing && !with_memory([&] { return elf_compress_gnu(debug.section, 0, 0) >= 0; }))
    return std::nullopt;
  if (debug.packed && !with_memory([&] { return elf_compress(debug.section, 0, 0) >= 0; }))
    return std::nullopt;
  return bytes_of(with_memory([&] { return elf_getdata(debug.section, nullptr); }));
}

std::string_view* section_for(std::string_view kind, DwarfSections& sections) {
  struct Entry {
    std::string_view kind;
    std::string_view DwarfSections::*section;
  };
  constexpr Entry entries[] = {
      {"debug_info", &DwarfSections::info},
      {"debug_abbrev", &DwarfSections::abbreviations},
      {"debug_line", &DwarfSections::lines},
      {"debug_line_str", &DwarfSections::line_strings},
      {"debug_str", &DwarfSections::strings},
      {"debug_str_offsets", &DwarfSections::string_offsets},
      {"debug_addr", &DwarfSections::addresses},
      {"debug_ranges", &DwarfSections::ranges},
      {"debug_rnglists", &DwarfSections::range_lists},
      {"debug_cu_index", &DwarfSections::unit_index},
      {"gnu_debugaltlink", &DwarfSections::supplement},
  };
  for (const Entry& entry : entries)
    if (entry.kind == kind) return &(sections.*entry.section);
  return nullptr;
}

uint64_t sum_of(const std::vector<DebugSection>& found, std::string_view kind,
                uint64_t DebugSection::*bytes = &DebugSection::size) {
  uint64_t sum = 0;
  for (const DebugSection& debug : found)
    if (kind.empty() || debug.kind == kind) sum += std::min(debug.*bytes, UINT64_MAX - sum);
  return sum;
}

// Drops the bytes after the last NUL. They are not a complete string, and each search for its end
// would read all of them.
std::string_view whole_texts(std::string_view texts) {
  return texts.substr(0, texts.rfind('\0') + 1);
}

}  // namespace

pi::Result<DwarfSections> read_dwarf_sections(const ElfFile& file, DwarfPart part) {
  const auto refuse = [&file](const std::string& what, uint64_t size, uint64_t limit) {
    return pi::Error{EFBIG, file.name() + ": its debug information is not used: " + what + " " +
                                std::to_string(size) + " bytes, more than " +
                                std::to_string(limit)};
  };
  DwarfSections sections;
  sections.part = part;
  if (file.big_endian()) return sections;
  const auto found = find_debug_sections(file.elf());
  sections.size = sum_of(found, "");
  if (const uint64_t limit = budgets::debug_sections.of(file.stored()); sections.size > limit)
    return refuse("unpacked it has", sections.size, limit);
  // Sections may share bytes of the file, but each is read separately.
  const uint64_t stored = sum_of(found, "", &DebugSection::stored);
  if (const uint64_t limit = budgets::debug_sections.of(file.stored()); stored > limit)
    return refuse("packed it has", stored, limit);
  const uint64_t lines = sum_of(found, "debug_line");
  if (const uint64_t limit = budgets::line_programs.of(file.stored()); lines > limit)
    return refuse("unpacked its lines have", lines, limit);
  const auto kept = std::make_shared<UnpackedBytes>();
  sections.unpacked = kept;
  for (const DebugSection& debug : found) {
    // The index of a package has no ".dwo" suffix.
    const bool wanted = debug.part == part || debug.kind == "debug_cu_index";
    std::string_view* const target = wanted ? section_for(debug.kind, sections) : nullptr;
    if (!target || !target->empty()) continue;
    const auto bytes = unpack(debug, file.layout().is_64, *kept);
    if (!bytes)
      return pi::Error{ENOTSUP, file.name() + ": its debug information is not used: ." +
                                    std::string(debug.kind) +
                                    (debug.part == DwarfPart::split ? ".dwo" : "") +
                                    " cannot be unpacked"};
    *target = *bytes;
  }
  sections.strings = whole_texts(sections.strings);
  sections.line_strings = whole_texts(sections.line_strings);
  return sections;
}

}  // namespace a2n
