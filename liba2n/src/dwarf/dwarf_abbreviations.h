// SPDX-License-Identifier: MIT
// A DWARF abbreviation table, compiled into the steps that read an entry.
#ifndef A2N_DWARF_ABBREVIATIONS_H
#define A2N_DWARF_ABBREVIATIONS_H

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace a2n {

// The parameters that the size of a form depends on.
struct DwarfFormat {
  uint16_t version = 0;
  uint8_t address_size = 0;
  uint8_t offset_size = 0;
  auto operator<=>(const DwarfFormat&) const = default;
};

// The attributes that are read; the others are skipped.
enum class DwarfAttribute : uint8_t {
  sibling,
  name,
  linkage_name,
  low_pc,
  high_pc,
  ranges,
  origin,
  specification,
  call_file,
  call_line,
  line_table,
  directory,
  string_offsets_base,
  addresses_base,
  ranges_base,
  range_lists_base,
  split_name,
  split_id,
  count  // not an attribute
};

// The size of a form's value in bytes, or nullopt if it varies.
std::optional<uint32_t> dwarf_form_size(uint64_t form, const DwarfFormat& format);

class DwarfAbbreviations {
 public:
  // Skips bytes, then reads a value of that form; DwarfAttribute::count: the value is discarded.
  // form 0: only skips.
  struct Step {
    uint32_t skip = 0;
    DwarfAttribute attribute = DwarfAttribute::count;
    uint16_t form = 0;
    int64_t constant = 0;  // the value of DW_FORM_implicit_const
  };
  struct Kind {
    uint64_t code;
    uint64_t tag;
    bool children;
    uint32_t first_step;
    uint32_t end_step;
  };

  // Parses the table at an offset of the section; stops at the first invalid entry.
  DwarfAbbreviations(std::string_view section, uint64_t offset, const DwarfFormat& format);

  const Kind* find(uint64_t code) const;
  const Step* step(uint32_t index) const { return steps_.data() + index; }
  uint64_t bytes() const { return bytes_; }  // number of bytes that were parsed

 private:
  std::vector<Kind> kinds_;  // sorted by code
  std::vector<Step> steps_;
  uint64_t bytes_ = 0;
};

}  // namespace a2n

#endif  // A2N_DWARF_ABBREVIATIONS_H
