// SPDX-License-Identifier: MIT
// The functions to which the entries of procedure linkage tables (PLT) lead.
#include "plt_entries.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/budgets.h"
#include "elf_memory.h"
#include "elf_tables.h"

namespace a2n {
namespace {

constexpr uint64_t usual_size = 16;  // bytes of an entry
constexpr uint64_t small_size = 8;   // in .plt.got without endbr64

// A jump through a slot of the global offset table.
struct Jump {
  uint64_t vaddr;
  uint64_t slot;
  const Section* section;
};

// What the relocation of a slot refers to.
struct Target {
  uint32_t symbol;    // index; 0: none
  uint64_t resolver;  // of an indirect function
};

class PltReader {
 public:
  explicit PltReader(const ElfFile& file)
      : file_(file), limit_(budgets::linkage_tables.of(file.stored())) {}

  std::vector<PltEntry> read() {
    GElf_Ehdr header;
    if (!gelf_getehdr(file_.elf(), &header)) return {};
    if (header.e_machine != EM_X86_64 && header.e_machine != EM_386) return {};
    is_386_ = header.e_machine == EM_386;
    uint64_t bytes = 0;
    for (const Section& section : file_.layout().sections) {
      if (!section.plt || !section.executable) continue;
      bytes += std::min(section.range.end - section.range.begin, limit_);
      if (bytes > limit_) break;
      find_jumps(section);
    }
    if (jumps_.empty()) return {};
    std::ranges::sort(jumps_, {}, &Jump::slot);
    targets_.resize(jumps_.size());
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(file_.elf(), section)) != nullptr;)
      find_targets(section);
    return entries();
  }

 private:
  // The bytes of a section from its segment's, so that no second table of sections is needed.
  std::string_view bytes_of(const Section& section) const {
    const uint64_t size = section.range.end - section.range.begin;
    for (const Segment& segment : file_.layout().segments) {
      if (section.range.begin < segment.vaddr) continue;
      const uint64_t at = section.range.begin - segment.vaddr;
      if (at >= segment.file_size || size > segment.file_size - at) continue;
      if (at > INT64_MAX || segment.offset > INT64_MAX - at) continue;
      const Elf_Data* data = with_memory([&] {
        return elf_getdata_rawchunk(file_.elf(), static_cast<int64_t>(segment.offset + at), size,
                                    ELF_T_BYTE);
      });
      if (data && data->d_buf) return a2n::bytes_of(data);
    }
    return {};
  }

  // The address from which position-independent code of 32 bits counts slots.
  uint64_t base_of_slots() const {
    for (const char* const name : {".got.plt", ".got"})
      for (const Section& section : file_.layout().sections)
        if (section.name == name) return section.range.begin;
    return 0;
  }

  // "ff 25 DISPLACEMENT", and of 32 bits also "ff a3 DISPLACEMENT", which is relative to ebx.
  void find_jumps(const Section& section) {
    constexpr size_t length = 6;
    const std::string_view bytes = bytes_of(section);
    for (size_t at = 0; at + length <= bytes.size(); ++at) {
      const auto code = [&](size_t i) { return static_cast<unsigned char>(bytes[at + i]); };
      if (code(0) != 0xff || (code(1) != 0x25 && !(is_386_ && code(1) == 0xa3))) continue;
      int32_t displacement = 0;
      std::memcpy(&displacement, bytes.data() + at + 2, sizeof displacement);
      const uint64_t vaddr = section.range.begin + at;
      const auto offset = static_cast<uint64_t>(int64_t{displacement});
      uint64_t slot = vaddr + length + offset;
      if (is_386_) slot = ((code(1) == 0xa3 ? base_of_slots() : 0) + offset) & UINT32_MAX;
      jumps_.push_back({vaddr, slot, &section});
    }
  }

  // Only the first relocation of a slot is used, so that many relocations of a slot with many jumps
  // take linear time.
  void take(uint64_t slot, const Target& target) {
    if (target.symbol == 0 && target.resolver == 0) return;
    auto jump = std::ranges::lower_bound(jumps_, slot, {}, &Jump::slot);
    for (; jump != jumps_.end() && jump->slot == slot; ++jump) {
      Target& own = targets_[static_cast<size_t>(jump - jumps_.begin())];
      if (own.symbol != 0 || own.resolver != 0) return;
      own = target;
    }
  }

  // The numbers are the same for both machines, except that of indirect functions.
  void find_targets(Elf_Scn* section) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || (header.sh_flags & SHF_ALLOC) == 0) return;
    if (header.sh_type != SHT_RELA && header.sh_type != SHT_REL) return;
    if (header.sh_size > limit_ - relocation_bytes_) return;
    relocation_bytes_ += header.sh_size;
    const Elf_Scn* const symbols = elf_getscn(file_.elf(), header.sh_link);
    const uint32_t link = header.sh_link;
    Elf_Data* const data = section_data(section, header.sh_type, limit_, header);
    if (!data) return;
    if (symbols && link != 0) link_ = link;
    const bool with_addend = header.sh_type == SHT_RELA;
    for (int i = 0;; ++i) {
      GElf_Rela entry{};
      if (with_addend) {
        if (!gelf_getrela(data, i, &entry)) return;
      } else {
        GElf_Rel plain;
        if (!gelf_getrel(data, i, &plain)) return;
        entry.r_offset = plain.r_offset;
        entry.r_info = plain.r_info;
      }
      const uint64_t type = GELF_R_TYPE(entry.r_info);
      if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT)
        take(entry.r_offset, {static_cast<uint32_t>(GELF_R_SYM(entry.r_info)), 0});
      else if (with_addend && type == R_X86_64_IRELATIVE)
        take(entry.r_offset, {0, static_cast<uint64_t>(entry.r_addend)});
    }
  }

  std::vector<PltEntry> entries() {
    GElf_Shdr header;
    Elf_Data* const symbols =
        section_data(elf_getscn(file_.elf(), link_), SHT_DYNSYM, limit_, header);
    Elf_Data* const strings =
        symbols ? section_data(elf_getscn(file_.elf(), header.sh_link), SHT_STRTAB, limit_, header)
                : nullptr;
    const std::string_view names = a2n::bytes_of(strings);
    uint64_t seen = 0;
    std::vector<std::pair<Jump, PltEntry>> found;
    for (size_t i = 0; i < jumps_.size(); ++i) {
      PltEntry entry{jumps_[i].vaddr, 0, {}, targets_[i].resolver};
      GElf_Sym symbol;
      if (targets_[i].symbol != 0 && symbols &&
          gelf_getsym(symbols, static_cast<int>(targets_[i].symbol), &symbol))
        entry.name = name_at(names, symbol.st_name);
      seen += entry.name.size();
      if (seen > limit_) break;
      if (!entry.name.empty() || entry.resolver != 0) found.emplace_back(jumps_[i], entry);
    }
    std::ranges::sort(found, {}, [](const auto& each) { return each.first.vaddr; });
    return with_bounds(found);
  }

  // Entries of a section have one size. The jump is the last instruction but for padding, and for
  // what a lazy entry does until its slot is filled.
  static std::vector<PltEntry> with_bounds(std::vector<std::pair<Jump, PltEntry>>& found) {
    std::vector<PltEntry> entries;
    for (size_t first = 0, end = 0; first < found.size(); first = end) {
      const Section& section = *found[first].first.section;
      uint64_t size = usual_size;
      for (end = first + 1; end < found.size() && found[end].first.section == &section; ++end)
        if (found[end].first.vaddr - found[end - 1].first.vaddr == small_size) size = small_size;
      for (size_t i = first; i < end; ++i) {
        PltEntry& entry = found[i].second;
        entry.start -= (entry.start - section.range.begin) % size;
        entry.size = size;
        if (entries.empty() || !entries.back().contains(entry.start))
          entries.push_back(std::move(entry));
      }
    }
    return entries;
  }

  const ElfFile& file_;
  const uint64_t limit_;
  bool is_386_ = false;
  uint64_t relocation_bytes_ = 0;  // of all tables so far; they can overlap
  uint32_t link_ = 0;              // the section of the dynamic symbols
  std::vector<Jump> jumps_;        // by slot
  std::vector<Target> targets_;    // of jumps_
};

}  // namespace

std::vector<PltEntry> read_plt_entries(const ElfFile& file) {
  return PltReader(file).read();
}

}  // namespace a2n
