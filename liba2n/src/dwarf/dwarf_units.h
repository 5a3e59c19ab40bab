// SPDX-License-Identifier: MIT
// Units of DWARF 2 to 5 and their entries. Every byte may be damaged; work is counted.
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
#include "base/dwarf_bytes.h"
#include "dwarf_sections.h"
#include "dwarf_work.h"

namespace a2n {

// A number, or where a string or a block begins.
struct DwarfValue {
  uint64_t number = 0;
  uint16_t form = 0;  // 0: there is no such attribute
  explicit operator bool() const { return form != 0; }
};

struct DwarfEntry {
  uint64_t offset = 0;  // in the section
  uint64_t next = 0;    // where the next one begins: its first child or what follows
  uint64_t tag = 0;     // 0: the end of a list
  bool children = false;

  DwarfValue get(DwarfAttribute attribute) const {
    const auto index = static_cast<unsigned>(attribute);
    return (known >> index & 1) != 0 ? values[index] : DwarfValue{};
  }

  uint32_t known = 0;  // values that are there, a bit each
  std::array<DwarfValue, static_cast<size_t>(DwarfAttribute::count)> values;
};

enum class DwarfUnitKind : uint8_t { code, skeleton, split, other };

struct DwarfUnit {
  uint64_t begin = 0;
  uint64_t end = 0;
  DwarfFormat format;
  DwarfUnitKind kind = DwarfUnitKind::other;
  uint64_t split_id = 0;  // of a skeleton and of its split unit
  std::shared_ptr<const DwarfAbbreviations> abbreviations;
  DwarfEntry root;
  // What values of its entries are relative to. A split unit has some of its skeleton.
  uint64_t low_pc = 0;
  uint64_t string_offsets_base = 0;
  uint64_t range_lists_base = 0;
  uint64_t ranges_base = 0;
  std::string_view addresses;  // .debug_addr from the unit's own on
};

// The units of a file, of its .dwo file, or one of a package. The sections must stay.
class DwarfUnits {
 public:
  // work: of all that the units are read with. supplement: the file that dwz moved common entries
  // to, or null.
  DwarfUnits(const DwarfSections& sections, DwarfWork& work, DwarfUnits* supplement = nullptr)
      : sections_(sections), supplement_(supplement), work_(work) {}
  DwarfUnits(const DwarfUnits&) = delete;
  DwarfUnits& operator=(const DwarfUnits&) = delete;

  const DwarfSections& sections() const { return sections_; }

  // The unit at an offset; nothing where no further one is, and past the budget. next: where the
  // one behind it begins; it may be there when this one is not known: kind is other then.
  std::optional<DwarfUnit> unit(uint64_t offset, uint64_t& next);

  // The unit that an entry is in.
  const DwarfUnit* unit_around(uint64_t offset);

  // False where no entry is.
  bool read(const DwarfUnit& unit, uint64_t offset, DwarfEntry& entry) const;

  // Empty where there is none.
  std::string_view text(const DwarfUnit& unit, const DwarfValue& value);
  std::optional<uint64_t> address(const DwarfUnit& unit, const DwarfValue& value) const;

  // The entry that a value refers to, with where it is.
  struct Place {
    DwarfUnits* units = nullptr;
    uint64_t offset = 0;
  };
  std::optional<Place> reference(const DwarfUnit& unit, const DwarfValue& value);

  // Calls use(begin, end) for each range of the entry; ends when that returns false.
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
  // Those that were read last: of as many bytes as the section has.
  std::map<std::tuple<uint64_t, DwarfFormat>, std::shared_ptr<const DwarfAbbreviations>>
      abbreviations_;
  uint64_t kept_ = 0;             // their bytes
  std::vector<uint64_t> begins_;  // of units, once an entry of another one is asked for
  std::optional<DwarfUnit> last_;
  DwarfWork& work_;
};

// Where the list of ranges that a value names is, and what it is made of.
class DwarfRangeList {
 public:
  DwarfRangeList(const DwarfSections& sections, const DwarfUnit& unit, const DwarfValue& value);

  // The next range that is not empty; false at the end.
  bool next(uint64_t& begin, uint64_t& end);
  uint64_t bytes() const { return in_.at() - first_; }

 private:
  bool next_pair(uint64_t& begin, uint64_t& end);
  bool next_coded(uint64_t& begin, uint64_t& end);
  uint64_t indexed();

  const DwarfUnit& unit_;
  DwarfBytes in_;
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
  use(*begin, end ? *end : dwarf_address(*begin + high.number, unit.format.address_size));
}

}  // namespace a2n

#endif  // A2N_DWARF_UNITS_H
