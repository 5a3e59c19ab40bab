// SPDX-License-Identifier: MIT
// Source lines and inlined functions out of a file's DWARF, by libdw.
#include "dwarf_index.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "budgets.h"
#include "debug_search.h"
#include "line_tables.h"
#include "pi/hex.h"

namespace a2n {
namespace {

constexpr uint32_t deepest = 256;  // entries inside each other

class Reader {
 public:
  // stored: bytes of the file; unpacked: of all debug information.
  Reader(SourceIndexBuilder& builder, const LineSections& sections, uint64_t stored,
         uint64_t unpacked)
      : builder_(builder),
        sections_(sections),
        name_bytes_(budgets::file_names.of(stored)),
        memory_(budgets::source_index.of(unpacked)),
        passes_(budgets::debug_entries.of(unpacked)) {}

  // Whether it is past its budget; nothing is to be read then any more.
  bool excess() const {
    return builder_.used() > memory_ || passed_ > passes_ || named_ > name_bytes_;
  }
  // The same for a message.
  std::string what_exceeds() const {
    if (named_ > name_bytes_)
      return "names of source files have more than " + std::to_string(name_bytes_) + " bytes";
    return builder_.used() > memory_
               ? "lines, inlined functions and their ranges take more than " +
                     std::to_string(memory_) + " bytes"
               : "more than " + std::to_string(passes_) + " bytes of nested entries are read";
  }

  void unit(Dwarf_Die& unit) {
    files_ = nullptr;
    file_texts_.clear();
    farthest_ = 0;
    if (can_have_files(unit)) {
      size_t count = 0;
      if (dwarf_getsrcfiles(&unit, &files_, &count) != 0) files_ = nullptr;
      rows(unit);
    }
    children(unit, SourceIndexBuilder::none, 0, 0);
  }

 private:
  // libdw puts the names of all files of a table together at once, each with its directory: they
  // are counted before that.
  bool can_have_files(Dwarf_Die& unit) {
    Dwarf_Attribute attribute;
    Dwarf_Word offset = 0;
    if (!dwarf_attr(&unit, DW_AT_stmt_list, &attribute) ||
        dwarf_formudata(&attribute, &offset) != 0)
      return false;
    const auto [known, added] = heads_.try_emplace(offset, false);
    if (!added) return known->second;
    const char* const directory =
        dwarf_attr(&unit, DW_AT_comp_dir, &attribute) ? dwarf_formstring(&attribute) : nullptr;
    const auto bytes = file_name_bytes(sections_, offset, directory ? std::strlen(directory) : 0,
                                       name_bytes_ - named_);
    named_ += bytes.value_or(0);
    return known->second = bytes && !excess();
  }

  void rows(Dwarf_Die& unit) {
    Dwarf_Lines* lines = nullptr;
    size_t count = 0;
    // Units may share a table.
    if (dwarf_getsrclines(&unit, &lines, &count) != 0 || !tables_.insert(lines).second) return;
    for (size_t i = 0; i < count && !excess(); ++i) {
      Dwarf_Line* const line = dwarf_onesrcline(lines, i);
      Dwarf_Addr address = 0;
      int number = 0;
      bool end = false;
      if (dwarf_lineaddr(line, &address) != 0 || dwarf_lineno(line, &number) != 0 ||
          dwarf_lineendsequence(line, &end) != 0)
        continue;
      const char* const file = dwarf_linesrc(line, nullptr, nullptr);
      builder_.add_row(address, end || !file ? 0 : text_of(file),
                       end || number < 0 ? 0 : static_cast<uint32_t>(number));
    }
  }

  // libdw hands out the same pointer for the same file of a unit.
  uint32_t text_of(const char* text) {
    const auto [known, added] = file_texts_.try_emplace(text, 0);
    if (added) known->second = builder_.text(text);
    return known->second;
  }

  // parent and inlined: the innermost inlined function around, and how many there are.
  void children(Dwarf_Die& die, uint32_t parent, uint32_t inlined, uint32_t depth) {
    Dwarf_Die child;
    if (depth > deepest || dwarf_child(&die, &child) != 0) return;
    do {
      if (excess()) return;
      switch (dwarf_tag(&child)) {
        case DW_TAG_inlined_subroutine:
          inlined_function(child, parent, inlined, depth);
          break;
        case DW_TAG_subprogram:
          // What has no code is what others refer to.
          if (dwarf_hasattr(&child, DW_AT_low_pc) || dwarf_hasattr(&child, DW_AT_ranges))
            children(child, SourceIndexBuilder::none, 0, depth + 1);
          break;
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
          children(child, parent, inlined, depth + 1);
          break;
        default:
          break;
      }
    } while (to_sibling(child));
  }

  // Entries that do not say where they end are passed over one by one. Never back.
  bool to_sibling(Dwarf_Die& die) {
    const Dwarf_Off from = dwarf_dieoffset(&die);
    farthest_ = std::max(farthest_, from);
    const bool found = dwarf_siblingof(&die, &die) == 0;
    // At the end of a list all that is inside its last entry was passed.
    const Dwarf_Off to = found ? dwarf_dieoffset(&die) : farthest_;
    if (to > from) passed_ += to - from;
    return found && to > from;
  }

  void inlined_function(Dwarf_Die& die, uint32_t parent, uint32_t inlined, uint32_t depth) {
    const uint32_t node =
        builder_.add_node(parent, name_of(die), call_file(die), number(die, DW_AT_call_line));
    Dwarf_Addr base = 0, begin = 0, end = 0;
    for (ptrdiff_t at = 0; !excess() && (at = dwarf_ranges(&die, at, &base, &begin, &end)) > 0;)
      builder_.add_range(begin, end, node, inlined);
    children(die, node, inlined + 1, depth + 1);
  }

  // Of the function that was inlined; many places share it.
  uint32_t name_of(Dwarf_Die& die) {
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    if (!dwarf_attr(&die, DW_AT_abstract_origin, &attribute) ||
        !dwarf_formref_die(&attribute, &origin))
      return builder_.text("??");
    const auto [known, added] = names_.try_emplace(origin.addr, 0);
    if (!added) return known->second;
    const char* name = nullptr;
    for (const unsigned kind : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name})
      if (!name && dwarf_attr_integrate(&origin, kind, &attribute))
        name = dwarf_formstring(&attribute);
    return known->second = builder_.text(name && *name ? name : "??");
  }

  uint32_t call_file(Dwarf_Die& die) {
    const uint32_t file = number(die, DW_AT_call_file);
    const char* const name = files_ ? dwarf_filesrc(files_, file, nullptr, nullptr) : nullptr;
    return name ? text_of(name) : 0;
  }

  static uint32_t number(Dwarf_Die& die, unsigned kind) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (!dwarf_attr(&die, kind, &attribute) || dwarf_formudata(&attribute, &value) != 0) return 0;
    return value <= UINT32_MAX ? static_cast<uint32_t>(value) : 0;
  }

  SourceIndexBuilder& builder_;
  const LineSections sections_;
  const uint64_t name_bytes_;
  uint64_t named_ = 0;                          // bytes of names of files
  std::unordered_map<Dwarf_Word, bool> heads_;  // of line tables, by offset: whether they are good
  const uint64_t memory_;
  const uint64_t passes_;
  uint64_t passed_ = 0;     // bytes of entries
  Dwarf_Off farthest_ = 0;  // that an entry of the unit was found at
  std::unordered_set<const Dwarf_Lines*> tables_;
  Dwarf_Files* files_ = nullptr;
  std::unordered_map<const char*, uint32_t> file_texts_;
  std::unordered_map<const void*, uint32_t> names_;  // by the function's place in the file
};

// The bytes that a section has when it is unpacked.
uint64_t unpacked_size(Elf_Scn* section, const GElf_Shdr& header, std::string_view name) {
  if (name.starts_with(".zdebug_")) {
    // "ZLIB" and the size, the highest byte first.
    const Elf_Data* const data = elf_rawdata(section, nullptr);
    if (!data || !data->d_buf || data->d_size < 12) return 0;
    uint64_t size = 0;
    std::memcpy(&size, static_cast<const char*>(data->d_buf) + 4, sizeof size);
    return __builtin_bswap64(size);
  }
  if ((header.sh_flags & SHF_COMPRESSED) == 0) return header.sh_size;
  GElf_Chdr packed;
  return gelf_getchdr(section, &packed) ? packed.ch_size : 0;
}

struct DebugSections {
  uint64_t size = 0;   // of all, unpacked
  uint64_t lines = 0;  // of .debug_line
  Elf_Scn* line = nullptr;
  Elf_Scn* line_strings = nullptr;
  Elf_Scn* strings = nullptr;
};

DebugSections find_sections(Elf* elf) {
  DebugSections found;
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return found;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    const char* const text =
        gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : nullptr;
    if (!text || header.sh_type == SHT_NOBITS) continue;
    const std::string_view name(text, strnlen(text, 32));
    if (!name.starts_with('.')) continue;
    const std::string_view kind = name.substr(name.starts_with(".z") ? 2 : 1);
    if (!kind.starts_with("debug_")) continue;
    const uint64_t size = unpacked_size(section, header, name);
    found.size += std::min(size, UINT64_MAX - found.size);
    if (kind == "debug_line") {
      found.line = section;
      found.lines += std::min(size, UINT64_MAX - found.lines);
    }
    if (kind == "debug_line_str") found.line_strings = section;
    if (kind == "debug_str") found.strings = section;
  }
  return found;
}

std::string_view bytes_of(Elf_Scn* section) {
  const Elf_Data* const data = section ? elf_getdata(section, nullptr) : nullptr;
  return data && data->d_buf ? std::string_view(static_cast<const char*>(data->d_buf), data->d_size)
                             : std::string_view();
}

// The file that dwz moved common entries to. libdw would open whatever is at the path that the file
// names; here only a regular file is opened.
class Supplement {
 public:
  Supplement(Dwarf& dwarf, const ElfFile& file) {
    const char* name = nullptr;
    const void* id = nullptr;
    const ssize_t length = dwelf_dwarf_gnu_debugaltlink(&dwarf, &name, &id);
    if (length <= 0 || !name || !*name) return;
    const std::string hex =
        pi::to_hex(std::span(static_cast<const std::byte*>(id), static_cast<size_t>(length)));
    std::vector<std::string> paths = build_id_files({}, hex);
    paths.push_back(*name == '/' ? name : file.name().substr(0, file.name().rfind('/') + 1) + name);
    for (const std::string& path : paths) {
      auto opened = ElfFile::open(path);
      // libdw opens these, even so.
      if (!opened && (opened.error().code == EINVAL || opened.error().code == EFBIG))
        error_ = opened.error().message;
      if (opened && opened->layout().build_id != hex)
        error_ = path + ": it has another build-id than the one that is named";
      if (opened &&
          find_sections(opened->elf()).size > budgets::debug_sections.of(opened->stored()))
        error_ = path + ": its debug information unpacks to too much";
      if (!error_.empty()) return;
      if (!opened) continue;
      file_.emplace(std::move(*opened));
      dwarf_.reset(dwarf_begin_elf(file_->elf(), DWARF_C_READ, nullptr));
      if (dwarf_) dwarf_setalt(&dwarf, dwarf_.get());
      break;
    }
    missing_ = !dwarf_;
  }

  bool is_missing() const { return missing_; }
  // Why what is there cannot be opened.
  const std::string& error() const { return error_; }

 private:
  struct End {
    void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
  };
  bool missing_ = false;
  std::string error_;
  std::optional<ElfFile> file_;
  std::unique_ptr<Dwarf, End> dwarf_;
};

}  // namespace

pi::Result<DwarfLines> read_dwarf(const ElfFile& file) {
  const auto refuse = [&file](const std::string& why) {
    return pi::Error{EFBIG, file.name() + ": its debug information is not used: " + why};
  };
  const DebugSections sections = find_sections(file.elf());
  if (const uint64_t limit = budgets::debug_sections.of(file.stored()); sections.size > limit)
    return refuse("unpacked it has " + std::to_string(sections.size) + " bytes, more than " +
                  std::to_string(limit));
  if (const uint64_t limit = budgets::line_programs.of(file.stored()); sections.lines > limit)
    return refuse("unpacked its lines have " + std::to_string(sections.lines) +
                  " bytes, more than " + std::to_string(limit));
  const auto end = [](Dwarf* dwarf) { dwarf_end(dwarf); };
  const std::unique_ptr<Dwarf, decltype(end)> dwarf(
      dwarf_begin_elf(file.elf(), DWARF_C_READ, nullptr), end);
  SourceIndexBuilder builder;
  if (!dwarf) return DwarfLines{builder.build()};
  DwarfLines read;
  Supplement supplement(*dwarf, file);
  if (!supplement.error().empty()) return refuse(supplement.error());
  read.complete = !supplement.is_missing();
  // libdw has unpacked them.
  Reader reader(
      builder,
      {bytes_of(sections.line), bytes_of(sections.line_strings), bytes_of(sections.strings)},
      file.stored(), sections.size);
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die;
  // libdw is not asked for split units: it opens whatever is at the path that the file names.
  while (!reader.excess() &&
         dwarf_get_units(dwarf.get(), unit, &unit, nullptr, nullptr, &die, nullptr) == 0) {
    if (const int tag = dwarf_tag(&die); tag == DW_TAG_compile_unit) reader.unit(die);
    if (dwarf_tag(&die) == DW_TAG_skeleton_unit) read.complete = false;
  }
  if (reader.excess()) return refuse(reader.what_exceeds());
  read.index = builder.build();
  return read;
}

}  // namespace a2n
