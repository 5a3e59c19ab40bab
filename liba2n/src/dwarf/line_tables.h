// SPDX-License-Identifier: MIT
// Line tables of DWARF 2 to 5: names of files, and the lines of sequences of code.
#ifndef A2N_LINE_TABLES_H
#define A2N_LINE_TABLES_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dwarf_bytes.h"
#include "dwarf_sections.h"

namespace a2n {

// From an address on, a line of a file; line 0: none.
struct LineRow {
  uint64_t address;
  uint32_t file;
  uint32_t line;
};

class LineTable {
 public:
  // What a unit says of its table: where it is in .debug_line, the unit's directory, and how many
  // bytes an address has.
  struct Owner {
    uint64_t offset;
    std::string_view directory;
    uint8_t address_size;
  };

  // Nothing when the table's head makes no sense. looked: the bytes that were looked at, also when
  // nothing is returned; not more than max_bytes plus the length of one name.
  static std::optional<LineTable> read(const DwarfSections& sections, const Owner& owner,
                                       uint64_t max_bytes, uint64_t& looked);

  bool has_file(uint64_t number) const { return number < files_.size(); }
  // A file's name with its directories; empty where there is no such file.
  std::string file(uint64_t number) const;

  // Calls use for each sequence of code; its rows end with one of line 0, at the address behind the
  // code. A row like the one before it is left out, and so are rows at that address and sequences
  // without code. Ends when use returns false. Returns false when a sequence has more than
  // max_rows rows.
  bool for_each_sequence(uint64_t max_rows,
                         const std::function<bool(const std::vector<LineRow>&)>& use);

 private:
  struct File {
    std::string_view name;
    uint64_t directory;
  };
  struct State {
    uint64_t address = 0;
    uint64_t file = 1;
    uint64_t line = 1;
  };

  LineTable(const DwarfSections& sections, const Owner& owner)
      : sections_(sections),
        unit_directory_(owner.directory),
        address_size_(owner.address_size),
        program_(std::string_view()) {}
  bool read_head(uint64_t offset, uint64_t max_bytes);
  void read_old(DwarfBytes& in);
  bool read_new(DwarfBytes& in, uint64_t max_bytes);
  template <class Use>
  bool read_list(DwarfBytes& in, uint64_t max_bytes, Use use);
  void advance(State& state, uint64_t operations) const;
  // Whether it ends the sequence.
  bool extended(State& state);
  void standard(uint64_t opcode, State& state);

  DwarfSections sections_;
  std::string_view unit_directory_;
  uint8_t address_size_;
  DwarfBytes program_;
  uint64_t bytes_ = 0;     // of the whole table
  uint64_t searched_ = 0;  // of names that are elsewhere
  uint16_t version_ = 0;
  uint8_t offset_size_ = 4;
  uint8_t smallest_instruction_ = 1;
  int8_t line_base_ = 0;
  uint8_t line_range_ = 1;
  std::vector<uint8_t> operands_;  // of standard opcodes, from 1 on
  std::vector<std::string_view> directories_;
  std::vector<File> files_;  // DWARF 5: from 0 on, before: from 1 on
};

}  // namespace a2n

#endif  // A2N_LINE_TABLES_H
