// SPDX-License-Identifier: MIT
// Reads units of DWARF 2 to 5 and their entries.
#include "dwarf_units.h"

#include <dwarf.h>

#include <algorithm>
#include <iterator>

namespace a2n {
namespace {

// Reads a value, or skips one that is longer than 8 bytes. An unknown form is an error: the size of
// the value is not known.
DwarfValue read_value(pi::DwarfBytes& in, uint64_t form, int64_t constant,
                      const DwarfFormat& format) {
  // DW_FORM_indirect: the form is stored before the value. It must not be indirect again.
  if (form == DW_FORM_indirect) {
    form = in.leb128();
    if (form == DW_FORM_indirect || form == DW_FORM_implicit_const || form > UINT16_MAX) in.fail();
  }
  DwarfValue value{0, static_cast<uint16_t>(form)};
  if (const auto size = dwarf_form_size(form, format)) {
    if (form == DW_FORM_implicit_const)
      value.number = static_cast<uint64_t>(constant);
    else if (form == DW_FORM_flag_present)
      value.number = 1;
    else if (*size <= 8)
      value.number = in.number(*size);
    else
      in.skip(*size);
    return value;
  }
  switch (form) {
    case DW_FORM_string:
      value.number = in.at();
      in.text();
      break;
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
      value.number = in.leb128();
      break;
    case DW_FORM_sdata:
      value.number = static_cast<uint64_t>(in.signed_leb128());
      break;
    case DW_FORM_block:
    case DW_FORM_exprloc:
      in.skip(in.leb128());
      break;
    case DW_FORM_block1:
      in.skip(in.number(1));
      break;
    case DW_FORM_block2:
      in.skip(in.number(2));
      break;
    case DW_FORM_block4:
      in.skip(in.number(4));
      break;
    default:
      in.fail();
  }
  return value;
}

// Element index of the table of numbers at an offset; size: of an element in bytes.
std::optional<uint64_t> number_at(std::string_view table, uint64_t offset, uint64_t index,
                                  uint8_t size) {
  if (offset > table.size() || index >= (table.size() - offset) / size) return std::nullopt;
  return pi::DwarfBytes(table, offset + index * size).number(size);
}

// The header size of an offset table: its initial length field plus rest bytes.
uint64_t head_size(std::string_view table, uint64_t rest) {
  pi::DwarfBytes in(table);
  uint8_t offset_size = 4;
  in.length(offset_size);
  return in.at() + rest;
}

uint64_t number_of(const DwarfEntry& entry, DwarfAttribute attribute, uint64_t otherwise) {
  const DwarfValue value = entry.get(attribute);
  return value ? value.number : otherwise;
}

}  // namespace

std::shared_ptr<const DwarfAbbreviations> DwarfUnits::abbreviations(uint64_t offset,
                                                                    const DwarfFormat& format) {
  const std::tuple key(offset, format);
  if (const auto found = abbreviations_.find(key); found != abbreviations_.end())
    return found->second;
  auto table = std::make_shared<const DwarfAbbreviations>(sections_.abbreviations, offset, format);
  work_.count(table->bytes());
  // In hostile files the tables overlap: all of them together could be many times the section.
  if (cached_bytes_ > sections_.abbreviations.size()) {
    abbreviations_.clear();
    cached_bytes_ = 0;
  }
  cached_bytes_ += table->bytes();
  abbreviations_.emplace(key, table);
  return table;
}

std::optional<DwarfUnit> DwarfUnits::unit(uint64_t offset, uint64_t& next) {
  if (offset >= sections_.info.size() || work_.excess()) return std::nullopt;
  pi::DwarfBytes in(sections_.info, offset);
  DwarfUnit unit;
  unit.begin = offset;
  const uint64_t length = in.length(unit.format.offset_size);
  if (!in.good()) return std::nullopt;
  unit.end = in.at() + std::min(length, in.left());
  next = unit.end;
  unit.format.version = static_cast<uint16_t>(in.number(2));
  uint64_t type = DW_UT_compile, abbreviations_at = 0;
  if (unit.format.version >= 5) {
    type = in.number(1);
    unit.format.address_size = static_cast<uint8_t>(in.number(1));
    abbreviations_at = in.number(unit.format.offset_size);
    if (type == DW_UT_skeleton || type == DW_UT_split_compile) unit.split_id = in.number(8);
  } else {
    abbreviations_at = in.number(unit.format.offset_size);
    unit.format.address_size = static_cast<uint8_t>(in.number(1));
  }
  const bool sizes = unit.format.address_size == 4 || unit.format.address_size == 8;
  if (!in.good() || in.at() > unit.end || unit.format.version < 2 || unit.format.version > 5 ||
      !sizes)
    return unit;
  const bool in_split = sections_.part == DwarfPart::split;
  if (type == DW_UT_compile || type == DW_UT_partial)
    unit.kind = DwarfUnitKind::code;
  else if (type == DW_UT_skeleton && !in_split)
    unit.kind = DwarfUnitKind::skeleton;
  else if (type == DW_UT_split_compile && in_split)
    unit.kind = DwarfUnitKind::split;
  else
    return unit;
  unit.abbreviations = abbreviations(abbreviations_at, unit.format);
  if (!read(unit, in.at(), unit.root)) {
    unit.kind = DwarfUnitKind::other;
    return unit;
  }
  read_root(unit);
  return unit;
}

void DwarfUnits::read_root(DwarfUnit& unit) {
  const DwarfEntry& root = unit.root;
  // DWARF 4 has no unit types for split units; gcc and clang write DW_AT_GNU_dwo_id. A skeleton may
  // have child entries.
  if (const DwarfValue id = root.get(DwarfAttribute::split_id); id && unit.format.version < 5) {
    unit.split_id = id.number;
    if (sections_.part == DwarfPart::split)
      unit.kind = DwarfUnitKind::split;
    else if (root.get(DwarfAttribute::split_name))
      unit.kind = DwarfUnitKind::skeleton;
  }
  const bool new_tables = unit.format.version >= 5;
  const uint64_t strings_head = new_tables ? head_size(sections_.string_offsets, 4) : 0;
  const uint64_t lists_head = new_tables ? head_size(sections_.range_lists, 8) : 0;
  unit.string_offsets_base = number_of(root, DwarfAttribute::string_offsets_base, strings_head);
  unit.range_lists_base = number_of(root, DwarfAttribute::range_lists_base, lists_head);
  unit.ranges_base = number_of(root, DwarfAttribute::ranges_base, 0);
  const uint64_t addresses = number_of(root, DwarfAttribute::addresses_base, new_tables ? 8 : 0);
  if (addresses <= sections_.addresses.size())
    unit.addresses = sections_.addresses.substr(addresses);
  unit.low_pc = address(unit, root.get(DwarfAttribute::low_pc)).value_or(0);
}

const DwarfUnit* DwarfUnits::unit_containing(uint64_t offset) {
  if (last_ && last_->begin <= offset && offset < last_->end) return &*last_;
  if (begins_.empty()) {
    for (uint64_t at = 0; at < sections_.info.size();) {
      pi::DwarfBytes in(sections_.info, at);
      uint8_t offset_size = 4;
      const uint64_t length = in.length(offset_size);
      if (!in.good()) break;
      begins_.push_back(at);
      at = in.at() + std::min(length, in.left());
    }
    work_.count(begins_.size() * 12);
  }
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), offset);
  if (after == begins_.begin()) return nullptr;
  uint64_t next = 0;
  auto found = unit(*std::prev(after), next);
  work_.count(sizeof(DwarfUnit) +
              (found ? found->root.next - std::min(found->begin, found->root.next) : 0));
  if (!found || found->kind == DwarfUnitKind::other || offset >= found->end) return nullptr;
  last_ = *found;
  return &*last_;
}

bool DwarfUnits::read(const DwarfUnit& unit, uint64_t offset, DwarfEntry& entry) const {
  if (offset < unit.begin || offset >= unit.end) return false;
  pi::DwarfBytes in(sections_.info.substr(0, unit.end), offset);
  entry.offset = offset;
  entry.known = 0;
  entry.tag = 0;
  entry.children = false;
  const uint64_t code = in.leb128();
  entry.next = in.at();
  if (code == 0) return in.good();
  const DwarfAbbreviations::Kind* const kind = unit.abbreviations->find(code);
  if (!kind || !in.good()) return false;
  entry.tag = kind->tag;
  entry.children = kind->children;
  for (uint32_t i = kind->first_step; i < kind->end_step; ++i) {
    const DwarfAbbreviations::Step& step = *unit.abbreviations->step(i);
    in.skip(step.skip);
    if (!in.good()) return false;
    if (step.form == 0) continue;
    const DwarfValue value = read_value(in, step.form, step.constant, unit.format);
    if (step.attribute == DwarfAttribute::count) continue;
    const auto index = static_cast<unsigned>(step.attribute);
    entry.values[index] = value;
    entry.known |= 1u << index;
  }
  entry.next = in.at();
  return in.good();
}

std::string_view DwarfUnits::text(const DwarfUnit& unit, const DwarfValue& value) {
  const std::string_view text = find_text(unit, value);
  work_.count(text.size());
  return text;
}

std::string_view DwarfUnits::find_text(const DwarfUnit& unit, const DwarfValue& value) const {
  switch (value.form) {
    case DW_FORM_string:
      return pi::dwarf_text(sections_.info, value.number);
    case DW_FORM_strp:
      return pi::dwarf_text(sections_.strings, value.number);
    case DW_FORM_line_strp:
      return pi::dwarf_text(sections_.line_strings, value.number);
    case DW_FORM_GNU_strp_alt:
    case DW_FORM_strp_sup:
      return supplement_ ? pi::dwarf_text(supplement_->sections_.strings, value.number)
                         : std::string_view();
    case DW_FORM_strx:
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4:
    case DW_FORM_GNU_str_index: {
      const auto offset = number_at(sections_.string_offsets, unit.string_offsets_base,
                                    value.number, unit.format.offset_size);
      return offset ? pi::dwarf_text(sections_.strings, *offset) : std::string_view();
    }
    default:
      return {};
  }
}

std::optional<uint64_t> DwarfUnits::address(const DwarfUnit& unit, const DwarfValue& value) const {
  switch (value.form) {
    case DW_FORM_addr:
      return value.number;
    case DW_FORM_addrx:
    case DW_FORM_addrx1:
    case DW_FORM_addrx2:
    case DW_FORM_addrx3:
    case DW_FORM_addrx4:
    case DW_FORM_GNU_addr_index:
      return number_at(unit.addresses, 0, value.number, unit.format.address_size);
    default:
      return std::nullopt;
  }
}

std::optional<DwarfUnits::EntryRef> DwarfUnits::reference(const DwarfUnit& unit,
                                                          const DwarfValue& value) {
  switch (value.form) {
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref4:
    case DW_FORM_ref8:
    case DW_FORM_ref_udata:
      if (value.number >= unit.end - unit.begin) return std::nullopt;
      return EntryRef{this, unit.begin + value.number};
    case DW_FORM_ref_addr:
      return EntryRef{this, value.number};
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_ref_sup4:
    case DW_FORM_ref_sup8:
      if (!supplement_) return std::nullopt;
      return EntryRef{supplement_, value.number};
    default:
      return std::nullopt;
  }
}

DwarfRangeList::DwarfRangeList(const DwarfSections& sections, const DwarfUnit& unit,
                               const DwarfValue& value)
    : unit_(unit), in_(std::string_view()), base_(unit.low_pc) {
  const bool old = unit.format.version < 5;
  const std::string_view section = old ? sections.ranges : sections.range_lists;
  uint64_t offset = value.number;
  if (value.form == DW_FORM_rnglistx) {
    const auto found =
        number_at(section, unit.range_lists_base, value.number, unit.format.offset_size);
    offset = found ? unit.range_lists_base + *found : UINT64_MAX;
  } else if (old && unit.kind == DwarfUnitKind::split) {
    offset += unit.ranges_base;
  }
  in_ = pi::DwarfBytes(section, offset);
  first_ = in_.at();
}

bool DwarfRangeList::next(uint64_t& begin, uint64_t& end) {
  do {
    if (!(unit_.format.version < 5 ? next_pair(begin, end) : next_coded(begin, end))) return false;
  } while (begin >= end);
  return true;
}

bool DwarfRangeList::next_pair(uint64_t& begin, uint64_t& end) {
  const uint8_t size = unit_.format.address_size;
  const uint64_t base_mark = size == 4 ? UINT32_MAX : UINT64_MAX;
  while (true) {
    begin = in_.number(size);
    end = in_.number(size);
    if (!in_.good() || (begin == 0 && end == 0)) return false;
    if (begin != base_mark) break;
    base_ = end;
  }
  begin = pi::dwarf_address(begin + base_, size);
  end = pi::dwarf_address(end + base_, size);
  return true;
}

// Reads an index and returns its address in .debug_addr; an invalid index is an error.
uint64_t DwarfRangeList::indexed() {
  const auto found = number_at(unit_.addresses, 0, in_.leb128(), unit_.format.address_size);
  return found ? *found : in_.fail();
}

bool DwarfRangeList::next_coded(uint64_t& begin, uint64_t& end) {
  const uint8_t size = unit_.format.address_size;
  while (in_.good()) {
    switch (in_.number(1)) {
      case DW_RLE_base_addressx:
        base_ = indexed();
        continue;
      case DW_RLE_base_address:
        base_ = in_.number(size);
        continue;
      case DW_RLE_startx_endx:
        begin = indexed();
        end = indexed();
        return in_.good();
      case DW_RLE_startx_length:
        begin = indexed();
        end = pi::dwarf_address(begin + in_.leb128(), size);
        return in_.good();
      case DW_RLE_offset_pair:
        begin = pi::dwarf_address(base_ + in_.leb128(), size);
        end = pi::dwarf_address(base_ + in_.leb128(), size);
        return in_.good();
      case DW_RLE_start_end:
        begin = in_.number(size);
        end = in_.number(size);
        return in_.good();
      case DW_RLE_start_length:
        begin = in_.number(size);
        end = pi::dwarf_address(begin + in_.leb128(), size);
        return in_.good();
      default:
        return false;  // the end of the list, or an unknown kind of entry
    }
  }
  return false;
}

}  // namespace a2n
