// SPDX-License-Identifier: MIT
// Packages of split DWARF (.dwp): finds the sections of a unit.
#include "dwarf_package.h"

#include "pi/dwarf_bytes.h"

namespace a2n {
namespace {

// The section of an index column's DW_SECT_* id; null for a section that is not read.
std::string_view DwarfSections::*section_of(uint64_t column, uint64_t version) {
  switch (column) {
    case 1:
      return &DwarfSections::info;
    case 3:
      return &DwarfSections::abbreviations;
    case 4:
      return &DwarfSections::lines;
    case 6:
      return &DwarfSections::string_offsets;
    case 8:
      return version == 5 ? &DwarfSections::range_lists : nullptr;
    default:
      return nullptr;
  }
}

class PackageIndex {
 public:
  explicit PackageIndex(std::string_view bytes) : bytes_(bytes) {
    pi::DwarfBytes in(bytes);
    version_ = in.number(4) & 0xffff;  // in version 5 it has two bytes, followed by padding
    columns_ = in.number(4);
    units_ = in.number(4);
    slots_ = in.number(4);
    const bool known = version_ == 2 || version_ == 5;
    // Cannot overflow: the factors have 32 bits, and more than 16 columns are rejected below.
    const uint64_t size = head + 12 * slots_ + (2 * units_ + 1) * columns_ * 4;
    good_ = in.good() && known && columns_ <= 16 && slots_ != 0 && (slots_ & (slots_ - 1)) == 0 &&
            size <= bytes.size();
  }

  bool good() const { return good_; }
  uint64_t version() const { return version_; }
  uint64_t columns() const { return columns_; }

  // The unit's row in the index, counted from 1; nullopt if the id is not in the hash table.
  std::optional<uint64_t> row_of(uint64_t id, DwarfWork& work) const {
    const uint64_t mask = slots_ - 1;
    const uint64_t step = (id >> 32 & mask) | 1;
    uint64_t slot = id & mask;
    for (uint64_t tried = 0; tried < max_tries; ++tried, slot = (slot + step) & mask) {
      work.count(tried == 0 ? 0 : 12);
      const uint64_t row = pi::DwarfBytes(bytes_, head + 8 * slots_ + 4 * slot).number(4);
      if (row == 0) return std::nullopt;
      if (pi::DwarfBytes(bytes_, head + 8 * slot).number(8) == id)
        return row <= units_ ? std::optional(row) : std::nullopt;
    }
    return std::nullopt;
  }

  // The DW_SECT_* id of a column.
  uint64_t kind(uint64_t column) const { return cell(0, column); }
  uint64_t offset(uint64_t row, uint64_t column) const { return cell(row, column); }
  uint64_t size(uint64_t row, uint64_t column) const { return cell(units_ + row, column); }

 private:
  static constexpr uint64_t head = 16;
  static constexpr uint64_t max_tries = 1024;  // valid tables have a third of the slots free

  uint64_t cell(uint64_t row, uint64_t column) const {
    return pi::DwarfBytes(bytes_, head + 12 * slots_ + 4 * (row * columns_ + column)).number(4);
  }

  std::string_view bytes_;
  uint64_t version_ = 0;
  uint64_t columns_ = 0;
  uint64_t units_ = 0;
  uint64_t slots_ = 0;
  bool good_ = false;
};

}  // namespace

std::optional<DwarfSections> unit_in_package(const DwarfSections& package, uint64_t id,
                                             DwarfWork& work) {
  const PackageIndex index(package.unit_index);
  const auto row = index.good() ? index.row_of(id, work) : std::nullopt;
  if (!row) return std::nullopt;
  DwarfSections unit;
  unit.part = DwarfPart::split;
  unit.strings = package.strings;  // shared by all units of the package
  for (uint64_t column = 0; column < index.columns(); ++column) {
    const auto section = section_of(index.kind(column), index.version());
    if (!section) continue;
    const uint64_t offset = index.offset(*row, column), size = index.size(*row, column);
    const std::string_view whole = package.*section;
    if (offset > whole.size() || size > whole.size() - offset) return std::nullopt;
    unit.*section = whole.substr(offset, size);
  }
  work.count(unit.info.size());
  return unit;
}

}  // namespace a2n
