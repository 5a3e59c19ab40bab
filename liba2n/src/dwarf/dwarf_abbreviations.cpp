// SPDX-License-Identifier: MIT
// A DWARF abbreviation table, compiled into the steps that read an entry.
#include "dwarf_abbreviations.h"

#include <dwarf.h>

#include <algorithm>

#include "pi/dwarf_bytes.h"

namespace a2n {
namespace {

DwarfAttribute attribute_of(uint64_t name) {
  switch (name) {
    case DW_AT_sibling:
      return DwarfAttribute::sibling;
    case DW_AT_name:
      return DwarfAttribute::name;
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name:
      return DwarfAttribute::linkage_name;
    case DW_AT_low_pc:
      return DwarfAttribute::low_pc;
    case DW_AT_high_pc:
      return DwarfAttribute::high_pc;
    case DW_AT_ranges:
      return DwarfAttribute::ranges;
    case DW_AT_abstract_origin:
      return DwarfAttribute::origin;
    case DW_AT_specification:
      return DwarfAttribute::specification;
    case DW_AT_call_file:
      return DwarfAttribute::call_file;
    case DW_AT_call_line:
      return DwarfAttribute::call_line;
    case DW_AT_stmt_list:
      return DwarfAttribute::line_table;
    case DW_AT_comp_dir:
      return DwarfAttribute::directory;
    case DW_AT_str_offsets_base:
      return DwarfAttribute::string_offsets_base;
    case DW_AT_addr_base:
    case DW_AT_GNU_addr_base:
      return DwarfAttribute::addresses_base;
    case DW_AT_GNU_ranges_base:
      return DwarfAttribute::ranges_base;
    case DW_AT_rnglists_base:
      return DwarfAttribute::range_lists_base;
    case DW_AT_dwo_name:
    case DW_AT_GNU_dwo_name:
      return DwarfAttribute::split_name;
    case DW_AT_GNU_dwo_id:
      return DwarfAttribute::split_id;
    default:
      return DwarfAttribute::count;
  }
}

}  // namespace

std::optional<uint32_t> dwarf_form_size(uint64_t form, const DwarfFormat& format) {
  switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
      return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
      return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
      return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
      return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
    case DW_FORM_ref_sup4:
      return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
      return 8;
    case DW_FORM_data16:
      return 16;
    case DW_FORM_addr:
      return format.address_size;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_sec_offset:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
      return format.offset_size;
    case DW_FORM_ref_addr:
      return format.version == 2 ? format.address_size : format.offset_size;
    default:
      return std::nullopt;
  }
}

DwarfAbbreviations::DwarfAbbreviations(std::string_view section, uint64_t offset,
                                       const DwarfFormat& format) {
  pi::DwarfBytes in(section, offset);
  while (true) {
    Kind kind{};
    kind.code = in.leb128();
    if (kind.code == 0) break;
    kind.tag = in.leb128();
    kind.children = in.number(1) != 0;
    kind.first_step = static_cast<uint32_t>(steps_.size());
    uint32_t known = 0;  // bit mask of attributes; a repeated attribute is ignored
    Step next;
    while (in.good()) {
      const uint64_t name = in.leb128();
      const uint64_t form = in.leb128();
      const int64_t constant = form == DW_FORM_implicit_const ? in.signed_leb128() : 0;
      if (name == 0 && form == 0) break;
      DwarfAttribute attribute = attribute_of(name);
      if ((known >> static_cast<unsigned>(attribute) & 1) != 0) attribute = DwarfAttribute::count;
      const auto size = dwarf_form_size(form, format);
      if (attribute == DwarfAttribute::count && size && next.skip <= UINT32_MAX - *size) {
        next.skip += *size;
        continue;
      }
      known |= attribute == DwarfAttribute::count ? 0 : 1u << static_cast<unsigned>(attribute);
      next.attribute = attribute;
      next.form = form <= UINT16_MAX ? static_cast<uint16_t>(form) : UINT16_MAX;
      next.constant = constant;
      steps_.push_back(next);
      next = {};
    }
    if (next.skip != 0) steps_.push_back(next);
    kind.end_step = static_cast<uint32_t>(steps_.size());
    if (!in.good() || steps_.size() >= UINT32_MAX) break;
    kinds_.push_back(kind);
  }
  if (offset <= section.size()) bytes_ = in.at() - offset;
  std::stable_sort(kinds_.begin(), kinds_.end(),
                   [](const Kind& a, const Kind& b) { return a.code < b.code; });
}

const DwarfAbbreviations::Kind* DwarfAbbreviations::find(uint64_t code) const {
  // Fast path: compilers number the abbreviations from 1.
  if (code - 1 < kinds_.size() && kinds_[code - 1].code == code) return &kinds_[code - 1];
  const auto found =
      std::lower_bound(kinds_.begin(), kinds_.end(), code,
                       [](const Kind& kind, uint64_t value) { return kind.code < value; });
  return found != kinds_.end() && found->code == code ? &*found : nullptr;
}

}  // namespace a2n
