// SPDX-License-Identifier: MIT
// Source lines and inlined functions out of a file's DWARF, by libdw.
#include "dwarf_index.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <memory>
#include <unordered_map>

namespace a2n {
namespace {

constexpr uint32_t deepest = 256;  // entries inside each other

class Reader {
 public:
  explicit Reader(SourceIndexBuilder& builder) : builder_(builder) {}

  void unit(Dwarf_Die& unit) {
    files_ = nullptr;
    file_texts_.clear();
    size_t count = 0;
    if (dwarf_getsrcfiles(&unit, &files_, &count) != 0) files_ = nullptr;
    rows(unit);
    children(unit, SourceIndexBuilder::none, 0, 0);
  }

 private:
  void rows(Dwarf_Die& unit) {
    Dwarf_Lines* lines = nullptr;
    size_t count = 0;
    if (dwarf_getsrclines(&unit, &lines, &count) != 0) return;
    for (size_t i = 0; i < count; ++i) {
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
    } while (dwarf_siblingof(&child, &child) == 0);
  }

  void inlined_function(Dwarf_Die& die, uint32_t parent, uint32_t inlined, uint32_t depth) {
    const uint32_t node =
        builder_.add_node(parent, name_of(die), call_file(die), number(die, DW_AT_call_line));
    Dwarf_Addr base = 0, begin = 0, end = 0;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &begin, &end)) > 0;)
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
  Dwarf_Files* files_ = nullptr;
  std::unordered_map<const char*, uint32_t> file_texts_;
  std::unordered_map<const void*, uint32_t> names_;  // by the function's place in the file
};

}  // namespace

SourceIndex read_dwarf(const ElfFile& file) {
  const auto end = [](Dwarf* dwarf) { dwarf_end(dwarf); };
  const std::unique_ptr<Dwarf, decltype(end)> dwarf(
      dwarf_begin_elf(file.elf(), DWARF_C_READ, nullptr), end);
  SourceIndexBuilder builder;
  if (!dwarf) return builder.build();
  Reader reader(builder);
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die, split;
  while (dwarf_get_units(dwarf.get(), unit, &unit, nullptr, nullptr, &die, &split) == 0)
    if (const int tag = dwarf_tag(&die); tag == DW_TAG_compile_unit) reader.unit(die);
  return builder.build();
}

}  // namespace a2n
