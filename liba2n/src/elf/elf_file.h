// SPDX-License-Identifier: MIT
// An ELF file opened for reading, with its parsed headers. Every byte of the file is untrusted.
#ifndef A2N_ELF_FILE_H
#define A2N_ELF_FILE_H

#include <libelf.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pi/files.h"
#include "pi/result.h"
#include "pi/unique_fd.h"
#include "symbols/symbol_table.h"

namespace a2n {

// A PT_LOAD program header.
struct Segment {
  uint64_t offset;
  uint64_t vaddr;
  uint64_t file_size;
  uint64_t memory_size;
  bool executable;
};

// An allocated section.
struct Section {
  Range range;
  std::string name;
  bool executable;
  bool plt;
};

struct ElfLayout {
  uint16_t type = 0;  // ET_*
  bool is_64 = true;
  bool has_sections = false;
  bool has_dwarf = false;  // .debug_info or .debug_line
  std::vector<Segment> segments;
  std::vector<Section> sections;  // sorted by begin
  std::string build_id;           // lower-case hex, "" if there is none
  std::string debug_link;         // file name, "" if there is none
  uint32_t debug_link_crc = 0;

  // Address ranges of code: the executable sections, or in a file without section headers the
  // executable segments.
  std::vector<Range> code() const;
};

// The index of the section name table; nullopt if it is compressed: elf_strptr() would uncompress
// it without a limit on its size.
std::optional<size_t> section_name_table(Elf* elf);

// program: accepts programs and shared libraries only. debug_part: also accepts files with only the
// debug information of a program, such as .dwo object files.
enum class ElfUse { program, debug_part };

class ElfFile {
 public:
  // The error's code is an errno; ENOEXEC if the file is not an ELF file of an accepted type.
  static pi::Result<ElfFile> open(const std::string& path, ElfUse use = ElfUse::program);
  static pi::Result<ElfFile> from_fd(pi::UniqueFd fd, const std::string& name,
                                     ElfUse use = ElfUse::program);
  static pi::Result<ElfFile> from_bytes(std::vector<char> bytes, const std::string& name);

  Elf* elf() const { return elf_.get(); }
  const ElfLayout& layout() const { return layout_; }
  int fd() const { return fd_.get(); }
  const std::string& name() const { return name_; }  // as passed to open()
  uint64_t inode() const { return identity_.inode; }
  // The file's identity when it was opened.
  const pi::FileIdentity& identity() const { return identity_; }
  // User id of the file's owner when it was opened; nullopt for bytes in memory.
  std::optional<uint32_t> owner() const { return owner_; }
  bool big_endian() const { return big_endian_; }
  uint64_t size() const { return size_; }  // in bytes, when the file was opened
  // Bytes allocated on disk, without holes. Budgets are computed from it.
  uint64_t stored() const { return stored_; }

 private:
  struct End {
    void operator()(Elf* elf) const { elf_end(elf); }
  };
  ElfFile() = default;
  pi::Status read(const std::string& name, ElfUse use);

  std::string name_;
  pi::UniqueFd fd_;
  std::vector<char> bytes_;
  pi::FileIdentity identity_;
  std::optional<uint32_t> owner_;
  bool big_endian_ = false;
  uint64_t size_ = 0;
  uint64_t stored_ = 0;
  ElfLayout layout_;
  std::unique_ptr<Elf, End> elf_;  // last, so destroyed first: it refers to the other members
};

}  // namespace a2n

#endif  // A2N_ELF_FILE_H
