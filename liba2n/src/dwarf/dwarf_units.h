// SPDX-License-Identifier: MIT
// Reads units of DWARF 2 to 5 and their entries. Every byte may be damaged; the work is limited.
#ifndef A2N_DWARF_UNITS_H
#define A2N_DWARF_UNITS_H

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "dwarf_abbreviations.h"
#include "pi/dwarf_bytes.h"
#include "dwarf_sections.h"
#include "dwarf_work.h"

namespace a2n {

// An attribute's value: a number, or the offset of a string.
struct DwarfValue {
  uint64_t number = 0;
  uint16_t form = 0;  // 0: the entry does not have the attribute
  explicit operator bool() const { return form != 0; }
};

struct DwarfEntry {
  uint64_t offset = 0;  // in the section
  uint64_t next = 0;    // offset of the next entry: the first child, else the next sibling
  uint64_t tag = 0;     // 0: the end of a list of siblings
  bool children = false;

  DwarfValue get(DwarfAttribute attribute) const {
    const auto index = static_cast<unsigned>(attribute);
    return (known >> index & 1) != 0 ? values[index] : DwarfValue{};
  }

  uint32_t known = 0;  // bit mask of the attributes present
  std::array<DwarfValue, static_cast<size_t>(DwarfAttribute::count)> values;
};

enum class DwarfUnitKind : uint8_t { code, skeleton, split, other };

struct DwarfUnit {
  uint64_t begin = 0;
  uint64_t end = 0;
  DwarfFormat format;
  DwarfUnitKind kind = DwarfUnitKind::other;
  uint64_t split_id = 0;  // dwo_id, the same in a skeleton and its split unit
  std::shared_ptr<const DwarfAbbreviations> abbreviations;
  DwarfEntry root;
  // Bases of the values in its entries. A split unit takes some from its skeleton.
  uint64_t low_pc = 0;
  uint64_t string_offsets_base = 0;
  uint64_t range_lists_base = 0;
  uint64_t ranges_base = 0;
  std::string_view addresses;  // .debug_addr from the unit's first entry on
};

// The units of a file or a .dwo file, or one unit of a package. The bytes of the sections must
// outlive this object.
class DwarfUnits {
 public:
  // work: shared by all debug files of a module. supplement: the file to which dwz moved common
  // entries, or null.
  DwarfUnits(const DwarfSections& sections, DwarfWork& work, DwarfUnits* supplement = nullptr)
      : sections_(sections), supplement_(supplement), work_(work) {}
  DwarfUnits(const DwarfUnits&) = delete;
  DwarfUnits& operator=(const DwarfUnits&) = delete;

  const DwarfSections& sections() const { return sections_; }

  // The unit at an offset; nullopt at the end of the section and when the budget is exceeded. next:
  // the offset of the following unit. If the unit cannot be read, kind is other, and next is still
  // valid.
  std::optional<DwarfUnit> unit(uint64_t offset, uint64_t& next);

  // The unit that contains the entry at an offset, or null; valid until the next call.
  const DwarfUnit* unit_containing(uint64_t offset);

  // Reads the entry at an offset; false if there is no valid entry.
  bool read(const DwarfUnit& unit, uint64_t offset, DwarfEntry& entry) const;

  // The string that a value refers to; empty if there is none.
  std::string_view text(const DwarfUnit& unit, const DwarfValue& value);
  std::optional<uint64_t> address(const DwarfUnit& unit, const DwarfValue& value) const;

  // Refers to an entry: its units (of this file or of the supplement) and its offset there.
  struct EntryRef {
    DwarfUnits* units = nullptr;
    uint64_t offset = 0;
  };
  std::optional<EntryRef> reference(const DwarfUnit& unit, const DwarfValue& value);

  // Calls use(begin, end) for each address range of the entry, until use returns false.
  template <class Use>
  void for_each_range(const DwarfUnit& unit, const DwarfEntry& entry, Use use);

  DwarfWork& work() const { return work_; }

 private:
  std::shared_ptr<const DwarfAbbreviations> abbreviations(uint64_t offset,
                                                          const DwarfFormat& format);
  void read_root(DwarfUnit& unit);
  std::string_view find_text(const DwarfUnit& unit, const DwarfValue& value) const;

  const DwarfSections sections_;
  DwarfUnits* const supplement_;
  // Cache of tables; it is cleared when its size exceeds that of the section.
  std::map<std::tuple<uint64_t, DwarfFormat>, std::shared_ptr<const DwarfAbbreviations>>
      abbreviations_;
  uint64_t cached_bytes_ = 0;     // size of the cached tables in bytes
  std::vector<uint64_t> begins_;  // offsets of all units; filled when unit_containing() needs it
  std::optional<DwarfUnit> last_;
  DwarfWork& work_;
};

// Reads the range list that an attribute's value refers to.
class DwarfRangeList {
 public:
  DwarfRangeList(const DwarfSections& sections, const DwarfUnit& unit, const DwarfValue& value);

  // The next non-empty range; false at the end.
  bool next(uint64_t& begin, uint64_t& end);
  uint64_t bytes() const { return in_.at() - first_; }

 private:
  bool next_pair(uint64_t& begin, uint64_t& end);
  bool next_coded(uint64_t& begin, uint64_t& end);
  uint64_t indexed();

  const DwarfUnit& unit_;
  pi::DwarfBytes in_;
  uint64_t first_ = 0;
  uint64_t base_;
};

template <class Use>
void DwarfUnits::for_each_range(const DwarfUnit& unit, const DwarfEntry& entry, Use use) {
  if (const DwarfValue value = entry.get(DwarfAttribute::ranges)) {
    DwarfRangeList list(sections_, unit, value);
    for (uint64_t begin = 0, end = 0; list.next(begin, end) && use(begin, end);) continue;
    work_.count(list.bytes());
    return;
  }
  const auto begin = address(unit, entry.get(DwarfAttribute::low_pc));
  const DwarfValue high = entry.get(DwarfAttribute::high_pc);
  if (!begin || !high) return;
  const auto end = address(unit, high);
  use(*begin, end ? *end : pi::dwarf_address(*begin + high.number, unit.format.address_size));
}

}  // namespace a2n

#endif  // A2N_DWARF_UNITS_H
