// SPDX-License-Identifier: MIT
// Reads line tables of DWARF 2 to 5: file names and line sequences.
#ifndef A2N_LINE_TABLES_H
#define A2N_LINE_TABLES_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pi/dwarf_bytes.h"
#include "dwarf_sections.h"

namespace a2n {

// The source line from an address up to the next row; line 0: none.
struct LineRow {
  uint64_t address;
  uint32_t file;
  uint32_t line;
};

class LineTable {
 public:
  // The unit's attributes for its table: the offset in .debug_line, the compilation directory, and
  // the size of an address in bytes.
  struct Owner {
    uint64_t offset;
    std::string_view directory;
    uint8_t address_size;
  };

  // Nullopt if the table's header is invalid. bytes_read, also then: the length of the table plus
  // the file names read from other sections, which end at the first entry beyond max_bytes.
  static std::optional<LineTable> read(const DwarfSections& sections, const Owner& owner,
                                       uint64_t max_bytes, uint64_t& bytes_read);

  bool has_file(uint64_t number) const { return number < files_.size(); }
  // The path of a file; empty if there is no such file.
  std::string file(uint64_t number) const;

  // Calls use for each line sequence, until use returns false. The last row has line 0 and the end
  // address of the code. Skips rows that repeat file and line of the previous one, rows at the end
  // address, and sequences without code. Returns false when a sequence has more than max_rows rows.
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
  void read_old(pi::DwarfBytes& in);
  bool read_new(pi::DwarfBytes& in, uint64_t max_bytes);
  template <class Use>
  bool read_list(pi::DwarfBytes& in, uint64_t max_bytes, Use use);
  void advance(State& state, uint64_t operations) const;
  // Executes an extended opcode; returns whether it ends the sequence.
  bool extended(State& state);
  void standard(uint64_t opcode, State& state);

  DwarfSections sections_;
  std::string_view unit_directory_;
  uint8_t address_size_;
  pi::DwarfBytes program_;
  uint64_t bytes_ = 0;       // size of the whole table
  uint64_t name_bytes_ = 0;  // size of the names read from other sections
  uint16_t version_ = 0;
  uint8_t offset_size_ = 4;
  uint8_t smallest_instruction_ = 1;
  int8_t line_base_ = 0;
  uint8_t line_range_ = 1;
  std::vector<uint8_t> operands_;  // number of operands of each standard opcode, from opcode 1 on
  std::vector<std::string_view> directories_;
  std::vector<File> files_;  // by number: in DWARF 5 from 0, before from 1
};

}  // namespace a2n

#endif  // A2N_LINE_TABLES_H
