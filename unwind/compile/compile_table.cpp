// SPDX-License-Identifier: MIT
// Compiles the unwind table of an ELF file.
#include "compile_table.h"

#include <gelf.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "cfi_program.h"
#include "cfi_section.h"
#include "runtime_file.h"
#include "signal_return.h"
#include "table/registers_x86.h"

namespace unwind {
namespace {

constexpr size_t max_program_headers = 64;
constexpr uint32_t compressed_by_zstd = 2;  // ELFCOMPRESS_ZSTD, which libelf 0.188 does not know

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfOwner = std::unique_ptr<Elf, EndElf>;

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

// Bytes that elf_strptr() does not have to uncompress.
std::optional<size_t> section_names(Elf* elf) {
  size_t index = 0;
  GElf_Shdr header;
  if (elf_getshdrstrndx(elf, &index) != 0 || !gelf_getshdr(elf_getscn(elf, index), &header) ||
      (header.sh_flags & SHF_COMPRESSED) != 0)
    return std::nullopt;
  return index;
}

std::string_view text_of(const Elf_Data* data) {
  if (!data || !data->d_buf) return {};
  return {static_cast<const char*>(data->d_buf), data->d_size};
}

// Not by elf_compress(), which changes the section's header, here in memory that is read-only.
// False for bytes that are damaged or compressed in another way.
bool unpack(Elf_Scn* section, size_t file_bytes, std::string& unpacked) {
  GElf_Chdr header;
  std::string_view packed = text_of(elf_rawdata(section, nullptr));
  if (packed.size() < sizeof(Elf64_Chdr) || !gelf_getchdr(section, &header) ||
      header.ch_size > unpacked_section.of(file_bytes))
    return false;
  packed.remove_prefix(sizeof(Elf64_Chdr));
  unpacked.resize(header.ch_size);
  if (header.ch_type == compressed_by_zstd)
    return ZSTD_decompress(unpacked.data(), unpacked.size(), packed.data(), packed.size()) ==
           unpacked.size();
  uLongf size = unpacked.size();
  return header.ch_type == ELFCOMPRESS_ZLIB &&
         uncompress(reinterpret_cast<Bytef*>(unpacked.data()), &size,
                    reinterpret_cast<const Bytef*>(packed.data()), packed.size()) == Z_OK &&
         size == unpacked.size();
}

// With bytes in the file; null: there is none.
Elf_Scn* section_called(Elf* elf, std::string_view wanted, GElf_Shdr& header) {
  const auto names = section_names(elf);
  if (!names) return nullptr;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS) continue;
    const char* name = elf_strptr(elf, *names, header.sh_name);
    if (name && wanted == name) return section;
  }
  return nullptr;
}

bool is_go(Elf* elf) {
  GElf_Shdr header;
  return section_called(elf, ".note.go.buildid", header) != nullptr;
}

// unpacked: for the bytes of a compressed section, which the result refers to.
std::optional<CfiSection> find_section(Elf* elf, std::string_view wanted, size_t file_bytes,
                                       std::string& unpacked) {
  GElf_Shdr header;
  Elf_Scn* const section = section_called(elf, wanted, header);
  if (!section) return std::nullopt;
  const bool packed = (header.sh_flags & SHF_COMPRESSED) != 0;
  if (packed && ((header.sh_flags & SHF_ALLOC) != 0 || !unpack(section, file_bytes, unpacked)))
    return std::nullopt;
  const std::string_view bytes = packed ? unpacked : text_of(elf_rawdata(section, nullptr));
  if (bytes.empty()) return std::nullopt;
  return CfiSection(bytes, header.sh_addr, wanted == ".eh_frame");
}

// Of a call in code that has set its frame pointer.
Rule runtime_rule() {
  Rule rule;
  rule.saves.fill({SaveKind::lost, 0, 0, 0, 0});
  rule.cfa = {CfaKind::offset, frame_pointer, rule_runtime, 0, 16, 0, 0};
  rule.saves[frame_pointer] = {SaveKind::at_cfa, 0, 0, 0, -16};
  rule.saves[stack_pointer] = {};
  rule.saves[return_address] = {SaveKind::at_cfa, 0, 0, 0, -8};
  return rule;
}

// Places in the file that have entries.
class KnownCode {
 public:
  void add(uint64_t begin, uint64_t end) { ranges_.push_back({begin, end}); }

  // After all were added: then has() can be called.
  void sort() {
    std::ranges::sort(ranges_, {}, &Range::begin);
    for (size_t i = 1; i < ranges_.size(); ++i)
      ranges_[i].end = std::max(ranges_[i].end, ranges_[i - 1].end);
  }
  bool has(uint64_t place) const {
    const auto next = std::ranges::upper_bound(ranges_, place, {}, &Range::begin);
    return next != ranges_.begin() && place < std::prev(next)->end;
  }

 private:
  struct Range {
    uint64_t begin;
    uint64_t end;  // after sort(): the highest of all that begin before
  };
  std::vector<Range> ranges_;
};

// Compiles sections of one file, the first of which counts where several have entries.
class SectionCompiler {
 public:
  explicit SectionCompiler(std::span<const Segment> segments) : segments_(segments) {}

  // Before all sections. Go's describe it as any function, and not the byte before, which is looked
  // up since a handler returns there as if it had been called from there.
  void add_signal_returns(std::span<const std::byte> file) {
    const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
    for (const Segment& segment : segments_) {
      if (segment.offset >= bytes.size()) continue;
      for (const uint64_t at : signal_returns(bytes.substr(segment.offset, segment.bytes))) {
        if (at == 0) continue;
        const uint64_t begin = segment.offset + at - 1, end = begin + 1 + signal_return_bytes;
        known_.add(begin, end);
        rows_.begin_function(begin, end);
        rows_.add_row(begin, signal_return_rule());
      }
    }
    known_.sort();
  }

  void add(const CfiSection& section) {
    commons_.clear();
    KnownCode added = known_;
    CfiEntry entry;
    for (uint64_t at = 0; section.read(at, entry); at = entry.next) {
      if (entry.kind == CfiEntry::Kind::invalid) rows_.count_invalid();
      if (entry.kind == CfiEntry::Kind::function) add_function(section, entry, added);
    }
    added.sort();
    known_ = std::move(added);
  }

  // After all sections. Symbols are counted as code is: from where a mapping of code would have the
  // file's first byte.
  void add_runtime(RuntimeFile runtime) {
    if (runtime.runtime == Runtime::none) return;
    for (uint64_t& symbol : runtime.symbols)
      symbol += segments_.front().offset - segments_.front().address;
    rows_.set_runtime(runtime.runtime, std::move(runtime.symbols));
    if (runtime.runtime != Runtime::v8) return;
    for (const Segment& segment : segments_)
      if (segment.offset + segment.bytes > segment.offset)
        rows_.fill_gaps(segment.offset, segment.offset + segment.bytes, v8_builtins_min,
                        runtime_rule());
  }

  std::vector<std::byte> take() { return rows_.take(); }

 private:
  const CfiCommon* common_at(const CfiSection& section, uint64_t at) {
    const auto [known, is_new] = commons_.try_emplace(at);
    if (is_new) known->second = section.common_at(at);
    return known->second.valid ? &known->second : nullptr;
  }

  void add_function(const CfiSection& section, const CfiEntry& entry, KnownCode& added) {
    const CfiCommon* common = common_at(section, entry.common);
    const auto function = common ? section.function(entry, *common) : std::nullopt;
    if (!function) return rows_.count_invalid();
    // The linker leaves functions that it has removed at address 0, outside all code.
    const uint64_t begin = function->begin;
    const auto segment = std::ranges::find_if(segments_, [=](const Segment& one) {
      return begin >= one.address && begin - one.address < one.bytes;
    });
    if (segment == segments_.end() || function->bytes == 0) return;
    const uint64_t place = begin - segment->address + segment->offset;
    const uint64_t space = segment->bytes - (begin - segment->address);
    if (place + space < place) return rows_.count_invalid();
    if (known_.has(place)) return;
    const uint64_t end = place + std::min(function->bytes, space);
    added.add(place, end);
    rows_.begin_function(place, end);
    CfiProgram(*common).run(function->instructions, place, rows_);
  }

  const std::span<const Segment> segments_;
  std::unordered_map<uint64_t, CfiCommon> commons_;  // of one section
  KnownCode known_;                                  // of the sections before
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
  SectionCompiler compiler(segments);
  if (is_go(elf.get())) compiler.add_signal_returns(file);
  bool has_section = false;
  // A program in Go with parts in C has both: .debug_frame for Go, .eh_frame for C.
  for (const char* name : {".eh_frame", ".debug_frame"}) {
    std::string unpacked;
    const auto section = find_section(elf.get(), name, file.size(), unpacked);
    if (section) compiler.add(*section);
    has_section |= section.has_value();
  }
  if (!has_section || segments.empty()) return pi::Error{1, "no unwind information"};
  compiler.add_runtime(find_runtime(elf.get()));
  return compiler.take();
}

}  // namespace unwind
