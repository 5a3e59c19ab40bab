// SPDX-License-Identifier: MIT
// Reads the bounds of functions from the unwind table (.eh_frame), which stripped files keep.
#include "unwind_functions.h"

#include <gelf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/budgets.h"
#include "pi/dwarf_bytes.h"
#include "pi/dwarf_pointer.h"
#include "base/last_at.h"
#include "elf_dynamic.h"
#include "elf_memory.h"
#include "elf_tables.h"

namespace a2n {
namespace {

constexpr size_t max_program_headers = 4096;
constexpr size_t max_header = 64;  // bytes of .eh_frame_hdr up to the address of the table

struct Table {
  std::string_view bytes;  // valid as long as the file
  uint64_t address;
  bool may_have_gaps;  // an entry of length 0 does not end the table
};

pi::Result<std::optional<Table>> table_of_section(const ElfFile& file, uint64_t limit) {
  const auto names = section_name_table(file.elf());
  if (!names) return std::optional<Table>();
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(file.elf(), section)) != nullptr;) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
        (header.sh_flags & (SHF_ALLOC | SHF_COMPRESSED)) != SHF_ALLOC)
      continue;
    const char* name = with_memory([&] { return elf_strptr(file.elf(), *names, header.sh_name); });
    if (!name || std::strcmp(name, ".eh_frame") != 0) continue;
    if (header.sh_size > limit)
      return pi::Error{EFBIG, file.name() + ": its unwind table (.eh_frame) has more than " +
                                  std::to_string(limit) +
                                  " bytes; functions without symbols are not distinguished"};
    return std::optional(Table{bytes_of(with_memory([&] { return elf_rawdata(section, nullptr); })),
                               header.sh_addr, true});
  }
  return std::optional<Table>();
}

size_t address_size(const ElfFile& file) {
  return file.layout().is_64 ? 8 : 4;
}

// For files without section headers: the location of the table in .eh_frame_hdr.
std::optional<Table> table_of_segment(const ElfFile& file, uint64_t limit) {
  size_t count = 0;
  if (elf_getphdrnum(file.elf(), &count) != 0) return std::nullopt;
  for (size_t i = 0; i < std::min(count, max_program_headers); ++i) {
    GElf_Phdr header;
    if (!gelf_getphdr(file.elf(), static_cast<int>(i), &header)) break;
    if (header.p_type != PT_GNU_EH_FRAME || header.p_offset > INT64_MAX) continue;
    pi::DwarfBytes in(bytes_of(with_memory([&] {
      return elf_getdata_rawchunk(file.elf(), static_cast<int64_t>(header.p_offset),
                                  std::min<uint64_t>(header.p_filesz, max_header), ELF_T_BYTE);
    })));
    if (in.number(1) != 1) return std::nullopt;
    const auto encoding = static_cast<uint8_t>(in.number(1));
    in.skip(2);
    const uint64_t address = pi::read_pointer(in, encoding, address_size(file), header.p_vaddr);
    const auto range = in.good() ? file_range(file.layout(), address) : std::nullopt;
    if (!range || range->offset >= file.size()) return std::nullopt;
    const uint64_t size = std::min({range->bytes, file.size() - range->offset, limit});
    return Table{bytes_of(with_memory([&] {
                   return elf_getdata_rawchunk(file.elf(), static_cast<int64_t>(range->offset),
                                               size, ELF_T_BYTE);
                 })),
                 address, false};
  }
  return std::nullopt;
}

class Reader {
 public:
  Reader(const Table& table, size_t address_size) : table_(table), size_(address_size) {}

  std::vector<FunctionRange> read() {
    for (uint64_t at = 0; at < table_.bytes.size();) {
      pi::DwarfBytes head(table_.bytes, at);
      const uint64_t length = head.number(4);
      // No compiler writes 64-bit lengths into this table.
      if (length > head.left() || (length == 0 && !table_.may_have_gaps)) break;
      const uint64_t end = head.at() + length;
      if (length != 0) read_entry(at, pi::DwarfBytes(table_.bytes.substr(0, end), head.at()));
      at = end;
    }
    return std::move(functions_);
  }

 private:
  // The encoding of addresses in the entries of one CIE.
  struct Common {
    uint64_t at;
    uint8_t encoding;
  };

  void read_entry(uint64_t at, pi::DwarfBytes in) {
    const uint64_t field = in.at();
    const uint64_t distance = in.number(4);
    if (!in.good()) return;
    if (distance == 0) {
      if (const auto encoding = read_common(in)) commons_.push_back({at, *encoding});
      return;
    }
    const Common* common = distance <= field ? find_common(field - distance) : nullptr;
    if (!common) return;
    const uint64_t start = pi::read_pointer(in, common->encoding, size_, table_.address);
    const uint64_t size = pi::dwarf_address(pi::read_pointer_form(in, common->encoding, size_),
                                            static_cast<uint8_t>(size_));
    if (in.good() && size != 0)
      functions_.push_back({start, static_cast<uint32_t>(std::min<uint64_t>(size, UINT32_MAX))});
  }

  const Common* find_common(uint64_t at) const {
    const Common* found = last_at(commons_, at, &Common::at);
    return found && found->at == at ? found : nullptr;
  }

  // Reads the encoding of addresses; nothing if it is not known.
  std::optional<uint8_t> read_common(pi::DwarfBytes& in) const {
    const uint64_t version = in.number(1);
    const std::string_view augmentation = in.text();
    if (version == 4) in.skip(2);  // sizes of an address and of a segment
    in.leb128();                   // alignment of code
    in.leb128();                   // and of data
    if (version == 1)
      in.skip(1);  // the register of the return address
    else
      in.leb128();
    if (!in.good()) return std::nullopt;
    if (augmentation.empty()) return uint8_t{0};
    if (augmentation.front() != 'z') return std::nullopt;
    in.leb128();  // length of the augmentation data
    return find_encoding(in, augmentation.substr(1));
  }

  std::optional<uint8_t> find_encoding(pi::DwarfBytes& in, std::string_view letters) const {
    for (const char letter : letters) {
      if (letter == 'R') {
        const auto encoding = static_cast<uint8_t>(in.number(1));
        return in.good() ? std::optional(encoding) : std::nullopt;
      }
      if (letter == 'L') {
        in.skip(1);
      } else if (letter == 'P') {
        const auto encoding = static_cast<uint8_t>(in.number(1));
        pi::read_pointer_form(in, encoding, size_);
      } else if (letter != 'S' && letter != 'B') {
        return std::nullopt;
      }
    }
    return in.good() ? std::optional(uint8_t{0}) : std::nullopt;
  }

  const Table& table_;
  const size_t size_;
  std::vector<Common> commons_;  // by at
  std::vector<FunctionRange> functions_;
};

void keep_code(std::vector<FunctionRange>& functions, std::vector<Range> code) {
  std::sort(code.begin(), code.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::erase_if(functions, [&](FunctionRange& function) {
    const Range* region = last_at(code, function.start, &Range::begin);
    if (!region || !region->contains(function.start)) return true;
    function.size =
        static_cast<uint32_t>(std::min<uint64_t>(function.size, region->end - function.start));
    return false;
  });
}

}  // namespace

pi::Result<std::vector<FunctionRange>> read_unwind_functions(const ElfFile& file) {
  if (file.big_endian()) return std::vector<FunctionRange>();
  const uint64_t limit = budgets::unwind_table.of(file.stored());
  auto table = table_of_section(file, limit);
  if (!table) return table.error();
  if (!*table && !file.layout().has_sections) *table = table_of_segment(file, limit);
  if (!*table) return std::vector<FunctionRange>();
  std::vector<FunctionRange> functions = Reader(**table, address_size(file)).read();
  keep_code(functions, file.layout().code());
  std::sort(functions.begin(), functions.end(), [](const FunctionRange& a, const FunctionRange& b) {
    return std::pair(a.start, b.size) < std::pair(b.start, a.size);
  });
  const auto same = std::unique(
      functions.begin(), functions.end(),
      [](const FunctionRange& a, const FunctionRange& b) { return a.start == b.start; });
  functions.erase(same, functions.end());
  return functions;
}

}  // namespace a2n
