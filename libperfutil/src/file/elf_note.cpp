// SPDX-License-Identifier: MIT
// Finds the GNU build-id in notes and in ELF images; no byte of them is trusted.
#include "elf_note.h"

#include <elf.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include <pi/files.h>
#include <pi/hex.h>

namespace pi::perfutil {
namespace {

constexpr size_t max_notes_bytes = 1 << 20;  // bytes of one note segment that are looked at
constexpr size_t max_headers = 1 << 12;      // program headers that are looked at
constexpr size_t max_id_bytes = 64;          // bytes

// Bytes [offset, offset + size) of the file; fewer where it ends before.
std::vector<std::byte> read_range(int fd, uint64_t offset, size_t size) {
  std::vector<std::byte> bytes(size);
  bytes.resize(read_at(fd, offset, bytes).bytes);
  return bytes;
}

template <class Ehdr, class Phdr>
std::optional<std::string> search_file(int fd) {
  const auto start = read_range(fd, 0, sizeof(Ehdr));
  if (start.size() < sizeof(Ehdr)) return std::nullopt;
  Ehdr header;
  std::memcpy(&header, start.data(), sizeof header);
  if (header.e_phentsize != sizeof(Phdr))
    return header.e_phnum == 0 ? std::optional("") : std::nullopt;
  const size_t count = std::min<size_t>(header.e_phnum, max_headers);
  const auto table = read_range(fd, header.e_phoff, count * sizeof(Phdr));
  for (size_t i = 0; i + 1 <= table.size() / sizeof(Phdr); ++i) {
    Phdr segment;
    std::memcpy(&segment, table.data() + i * sizeof segment, sizeof segment);
    if (segment.p_type != PT_NOTE) continue;
    const auto notes =
        read_range(fd, segment.p_offset, std::min<uint64_t>(segment.p_filesz, max_notes_bytes));
    if (auto id = build_id_in_notes(notes, segment.p_align == 8 ? 8 : 4)) return id;
  }
  return "";
}

}  // namespace

std::optional<std::string> build_id_in_notes(std::span<const std::byte> notes, size_t alignment) {
  const auto padded = [alignment](uint64_t size) {
    return (size + alignment - 1) & ~(alignment - 1);
  };
  constexpr char gnu[] = "GNU";
  uint64_t at = 0;
  while (at + sizeof(Elf64_Nhdr) <= notes.size()) {
    Elf64_Nhdr note;  // the same in 32-bit files
    std::memcpy(&note, notes.data() + at, sizeof note);
    const uint64_t name = at + sizeof note;
    const uint64_t content = at + padded(sizeof note + uint64_t{note.n_namesz});
    if (content > notes.size() || note.n_descsz > notes.size() - content) return std::nullopt;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof gnu && note.n_descsz > 0 &&
        note.n_descsz <= max_id_bytes && std::memcmp(notes.data() + name, gnu, sizeof gnu) == 0)
      return to_hex(notes.subspan(content, note.n_descsz));
    at = content + padded(note.n_descsz);
  }
  return std::nullopt;
}

std::optional<std::string> build_id_of_file(int fd) {
  const auto ident = read_range(fd, 0, EI_NIDENT);
  if (ident.size() < EI_NIDENT || std::memcmp(ident.data(), ELFMAG, SELFMAG) != 0 ||
      ident[EI_DATA] != std::byte{ELFDATA2LSB})
    return std::nullopt;
  if (ident[EI_CLASS] == std::byte{ELFCLASS64}) return search_file<Elf64_Ehdr, Elf64_Phdr>(fd);
  if (ident[EI_CLASS] == std::byte{ELFCLASS32}) return search_file<Elf32_Ehdr, Elf32_Phdr>(fd);
  return std::nullopt;
}

// The vdso comes from the kernel itself and is mapped whole, so its own headers are trusted.
std::string build_id_of_vdso() {
  const auto* image = reinterpret_cast<const std::byte*>(::getauxval(AT_SYSINFO_EHDR));
  if (image == nullptr) return "";
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, image + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type != PT_NOTE) continue;
    if (auto id = build_id_in_notes({image + segment.p_offset, segment.p_filesz},
                                    segment.p_align == 8 ? 8 : 4))
      return *id;
  }
  return "";
}

}  // namespace pi::perfutil
