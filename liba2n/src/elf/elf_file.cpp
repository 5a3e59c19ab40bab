// SPDX-License-Identifier: MIT
// An ELF file opened for reading, with its parsed headers. Every byte of the file is untrusted.
#include "elf_file.h"

#include <gelf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>

#include "base/budgets.h"
#include "base/safe_file.h"
#include "elf_memory.h"
#include "pi/hex.h"

namespace a2n {
namespace {

constexpr size_t max_segments = 4096;
constexpr size_t max_sections = 65536;
constexpr uint64_t max_note_bytes = 1 << 20;
constexpr size_t max_name = 4096;
constexpr size_t max_section_name = 256;

// The build-id in a block of notes, or "". left: how many bytes of notes may still be read.
std::string build_id_in(Elf* elf, uint64_t offset, uint64_t size, uint64_t alignment,
                        uint64_t& left) {
  if (offset > INT64_MAX || size == 0 || size > max_note_bytes || size > left) return "";
  left -= size;
  const Elf_Type type = alignment == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
  Elf_Data* data = with_memory(
      [&] { return elf_getdata_rawchunk(elf, static_cast<int64_t>(offset), size, type); });
  if (!data) return "";
  const std::span bytes(static_cast<const std::byte*>(data->d_buf), data->d_size);
  GElf_Nhdr note;
  size_t name = 0;
  size_t description = 0;
  for (size_t at = 0; (at = gelf_getnote(data, at, &note, &name, &description)) > 0;) {
    if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || note.n_descsz == 0) continue;
    if (note.n_descsz > 64 || description > data->d_size ||
        note.n_descsz > data->d_size - description || name + 4 > data->d_size) {
      continue;
    }
    if (std::memcmp(bytes.data() + name, "GNU", 4) == 0)
      return pi::to_hex(bytes.subspan(description, note.n_descsz));
  }
  return "";
}

// Layout of .gnu_debuglink: file name, NUL, padding to 4 bytes, checksum in the file's byte order.
void read_debug_link(Elf_Scn* section, bool big_endian, ElfLayout& layout) {
  Elf_Data* data = with_memory([&] { return elf_rawdata(section, nullptr); });
  if (!data || !data->d_buf || data->d_size < 8 || data->d_size > max_name) return;
  const auto* bytes = static_cast<const unsigned char*>(data->d_buf);
  const size_t length = strnlen(static_cast<const char*>(data->d_buf), data->d_size);
  const size_t crc_at = (length + 4) & ~size_t{3};
  if (length == 0 || crc_at + 4 > data->d_size) return;
  std::string_view name(static_cast<const char*>(data->d_buf), length);
  // The link must be a plain file name: it must not lead into other directories.
  if (name.find('/') != name.npos || name == "." || name == "..") return;
  layout.debug_link = name;
  for (size_t i = 0; i < 4; ++i) {
    const size_t shift = 8 * (big_endian ? 3 - i : i);
    layout.debug_link_crc |= uint32_t{bytes[crc_at + i]} << shift;
  }
}

void read_segments(Elf* elf, ElfLayout& layout, uint64_t& notes_left) {
  size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return;
  for (size_t i = 0; i < std::min(count, max_segments); ++i) {
    GElf_Phdr header;
    if (!with_memory([&] { return gelf_getphdr(elf, static_cast<int>(i), &header); })) return;
    if (header.p_type == PT_LOAD) {
      layout.segments.push_back({header.p_offset, header.p_vaddr, header.p_filesz, header.p_memsz,
                                 (header.p_flags & PF_X) != 0});
    } else if (header.p_type == PT_NOTE && layout.build_id.empty()) {
      layout.build_id =
          build_id_in(elf, header.p_offset, header.p_filesz, header.p_align, notes_left);
    }
  }
}

void read_section(Elf* elf, Elf_Scn* section, std::string_view name, bool big_endian,
                  ElfLayout& layout, uint64_t& notes_left) {
  GElf_Shdr header;
  if (!gelf_getshdr(section, &header)) return;
  layout.has_sections = true;
  if (header.sh_type != SHT_NOBITS && (name == ".debug_info" || name == ".zdebug_info" ||
                                       name == ".debug_line" || name == ".zdebug_line"))
    layout.has_dwarf = true;
  if (header.sh_type == SHT_NOTE && layout.build_id.empty()) {
    layout.build_id =
        build_id_in(elf, header.sh_offset, header.sh_size, header.sh_addralign, notes_left);
  }
  // Read the section only if its size is plausible: libelf keeps the data in memory.
  if (name == ".gnu_debuglink" && header.sh_type != SHT_NOBITS && header.sh_size <= max_name &&
      layout.debug_link.empty()) {
    read_debug_link(section, big_endian, layout);
  }
  const bool thread_local_zeros = (header.sh_flags & SHF_TLS) && header.sh_type == SHT_NOBITS;
  if (!(header.sh_flags & SHF_ALLOC) || thread_local_zeros || header.sh_size == 0 ||
      header.sh_size > UINT64_MAX - header.sh_addr || layout.sections.size() >= max_sections) {
    return;
  }
  layout.sections.push_back({{header.sh_addr, header.sh_addr + header.sh_size},
                             std::string(name),
                             (header.sh_flags & SHF_EXECINSTR) != 0,
                             name == ".plt" || name == ".iplt" || name.starts_with(".plt.")});
}

void read_sections(Elf* elf, bool big_endian, ElfLayout& layout, uint64_t& notes_left) {
  const auto names = section_name_table(elf);
  if (!names) return;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (!with_memory([&] { return gelf_getshdr(section, &header); })) break;
    const char* name = with_memory([&] { return elf_strptr(elf, *names, header.sh_name); });
    const size_t length = name ? strnlen(name, max_section_name) : 0;
    read_section(elf, section, {name ? name : "", length}, big_endian, layout, notes_left);
  }
  std::stable_sort(
      layout.sections.begin(), layout.sections.end(),
      [](const Section& a, const Section& b) { return a.range.begin < b.range.begin; });
}

// elf_version() writes global variables: call it only once, since several threads may use contexts
// at the same time.
void initialize_libelf() {
  [[maybe_unused]] static const unsigned version = elf_version(EV_CURRENT);
}

}  // namespace

std::optional<size_t> section_name_table(Elf* elf) {
  size_t names = 0;
  GElf_Shdr header;
  if (!with_memory([&] { return elf_getshdrstrndx(elf, &names) == 0; })) return std::nullopt;
  Elf_Scn* const section = with_memory([&] { return elf_getscn(elf, names); });
  // This reads the headers of all sections.
  if (!section || !with_memory([&] { return gelf_getshdr(section, &header); }) ||
      (header.sh_flags & SHF_COMPRESSED) != 0)
    return std::nullopt;
  return names;
}

std::vector<Range> ElfLayout::code() const {
  std::vector<Range> ranges;
  for (const Section& section : sections) {
    if (section.executable) ranges.push_back(section.range);
  }
  if (has_sections) return ranges;
  for (const Segment& segment : segments) {
    if (segment.executable && segment.memory_size <= UINT64_MAX - segment.vaddr) {
      ranges.push_back({segment.vaddr, segment.vaddr + segment.memory_size});
    }
  }
  return ranges;
}

pi::Status ElfFile::read(const std::string& name, ElfUse use) {
  name_ = name;
  GElf_Ehdr header;
  if (!elf_ || elf_kind(elf_.get()) != ELF_K_ELF || !gelf_getehdr(elf_.get(), &header)) {
    return pi::Error{ENOEXEC, name + ": not an ELF file"};
  }
  if (use == ElfUse::program && header.e_type != ET_EXEC && header.e_type != ET_DYN) {
    return pi::Error{ENOEXEC, name + ": neither a program nor a shared library"};
  }
  layout_.type = header.e_type;
  layout_.is_64 = header.e_ident[EI_CLASS] == ELFCLASS64;
  big_endian_ = header.e_ident[EI_DATA] == ELFDATA2MSB;
  uint64_t notes_left = budgets::notes.of(stored_);
  read_segments(elf_.get(), layout_, notes_left);
  read_sections(elf_.get(), big_endian_, layout_, notes_left);
  return {};
}

pi::Result<ElfFile> ElfFile::from_fd(pi::UniqueFd fd, const std::string& name, ElfUse use) {
  initialize_libelf();
  ElfFile file;
  file.fd_ = std::move(fd);
  struct stat status {};
  if (::fstat(file.fd_.get(), &status) != 0)
    return pi::Error{errno, name + ": " + std::strerror(errno)};
  const auto size = size_within(file.fd_.get(), name, budgets::elf_file);
  if (!size) return size.error();
  file.size_ = *size;
  file.stored_ = pi::real_size(file.fd_.get(), status);
  file.identity_ = pi::identity_of(status);
  file.owner_ = status.st_uid;
  // Files of /proc and tracefs have size 0; reading them may have side effects.
  if (file.size_ == 0) return pi::Error{ENOEXEC, name + ": not an ELF file"};
  // ELF_C_READ, not mmap: a file that is truncated meanwhile must not cause SIGBUS.
  file.elf_.reset(with_memory([&] { return elf_begin(file.fd_.get(), ELF_C_READ, nullptr); }));
  if (auto parsed = file.read(name, use); !parsed) return parsed.error();
  return file;
}

pi::Result<ElfFile> ElfFile::open(const std::string& path, ElfUse use) {
  auto opened = open_regular(path);
  if (!opened) return opened.error();
  return from_fd(std::move(opened->fd), path, use);
}

pi::Result<ElfFile> ElfFile::from_bytes(std::vector<char> bytes, const std::string& name) {
  initialize_libelf();
  ElfFile file;
  file.bytes_ = std::move(bytes);
  file.size_ = file.stored_ = file.bytes_.size();
  file.elf_.reset(with_memory([&] { return elf_memory(file.bytes_.data(), file.bytes_.size()); }));
  if (auto parsed = file.read(name, ElfUse::program); !parsed) return parsed.error();
  return file;
}

}  // namespace a2n
