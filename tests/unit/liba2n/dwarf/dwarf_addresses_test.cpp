// SPDX-License-Identifier: MIT
// Unusual addresses in DWARF: sequences without bytes, sums that exceed 32 bits.
#include <gmock/gmock.h>

#include "built_file.h"
#include "dwarf_builder.h"

namespace {

using namespace dwarf_builder;
using testing::ElementsAre;
using namespace std::string_literals;

const std::string copy = "\x01";
// DW_LNS_advance_line and DW_LNS_advance_pc.
std::string further(unsigned lines, unsigned bytes) {
  return {'\x03', static_cast<char>(lines), '\x02', static_cast<char>(bytes)};
}

class DwarfAddresses : public BuiltFile {
 protected:
  void write_lines(const std::string& sequences, uint8_t address_size = 8) {
    write_and_map(
        with_sections({{".debug_abbrev", abbreviation(1, 0x11, false, {{0x10, 0x17}}) + '\0'},
                       {".debug_info", unit4("\x01\0\0\0\0"s, address_size)},
                       {".debug_line", lines4(sequences)}}));
  }

  // Writes a file with an inlined function in the unit; ranges: its range list.
  void write_ranges(const std::string& info, const char* section, const std::string& ranges) {
    write_and_map(
        with_sections({{".debug_abbrev", abbreviation(1, 0x11, true, {}) +
                                             abbreviation(2, 0x1d, false, {{0x55, 0x17}}) + '\0'},
                       {".debug_info", info},
                       {section, ranges}}));
  }
};

TEST_F(DwarfAddresses, ASequenceWithoutBytesIsIgnored) {
  const std::string real = sequence(code, further(4, 0) + copy + "\x02\x10"s);
  const std::string empty = sequence(code, further(8, 0) + copy);
  write_lines(real + empty);
  EXPECT_THAT(frames_at(0), ElementsAre("nnnn 5"));
}

TEST_F(DwarfAddresses, ASequenceWithoutBytesDoesNotCoverLaterCode) {
  write_lines(sequence(code + 0x20, further(8, 0) + copy));
  EXPECT_THAT(frames_at(0x30), ElementsAre("nnnn 0"));
}

TEST_F(DwarfAddresses, ARowAtTheEndOfASequenceIsIgnored) {
  const std::string second = sequence(code + 0x10, further(4, 0) + copy + "\x02\x10"s);
  const std::string first = sequence(code, copy + further(8, 0x10) + copy);
  write_lines(second + first);
  EXPECT_THAT(frames_at(0x10), ElementsAre("nnnn 5"));
  EXPECT_THAT(frames_at(0x0f), ElementsAre("nnnn 1"));
}

TEST_F(DwarfAddresses, LinesHaveTheUnitsAddressSize) {
  // DW_LNS_advance_pc: 0xfffff800 + 0x1800 wraps around to 0x1000.
  const std::string operations = "\x02\x80\x30"s + further(4, 0) + copy + "\x02\x10"s;
  write_lines(sequence(uint32_t{0xfffff800}, operations), 4);
  EXPECT_THAT(frames_at(0), ElementsAre("nnnn 5"));
}

TEST_F(DwarfAddresses, RangeListsHaveTheUnitsAddressSize) {
  const uint32_t pairs[] = {0xffffffff, 0xfffff800, 0x1800, 0x1810, 0, 0};
  write_ranges(unit4("\x01\x02\0\0\0\0\0"s, 4), ".debug_ranges", raw(pairs));
  EXPECT_THAT(frames_at(0), ElementsAre("?? 0", "nnnn 0"));
}

TEST_F(DwarfAddresses, Dwarf5RangeListsHaveTheUnitsAddressSize) {
  // DW_RLE_base_address, DW_RLE_offset_pair.
  const std::string list = "\5"s + raw(uint32_t{0xfffff800}) + "\4\x80\x30\x90\x30\0"s;
  write_ranges(unit5("\x01\x02\0\0\0\0\0"s, 4), ".debug_rnglists", list);
  EXPECT_THAT(frames_at(0), ElementsAre("?? 0", "nnnn 0"));
}

}  // namespace
