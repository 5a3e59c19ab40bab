// SPDX-License-Identifier: MIT
// Executes the instructions of call frame information once, and makes a row where they change a
// rule.
#ifndef UNWIND_CFI_PROGRAM_H
#define UNWIND_CFI_PROGRAM_H

#include <cstdint>
#include <string_view>
#include <vector>

#include <pi/dwarf_bytes.h>

#include "table/rule.h"
#include "table/table_builder.h"

namespace unwind {

// What the functions of one CIE share.
struct CfiCommon {
  uint64_t code_alignment = 1;
  int64_t data_alignment = 1;
  uint8_t pointer_encoding = 0;
  bool has_augmentation_size = false;
  bool signal = false;
  bool valid = false;
  Rule initial;
};

class CfiProgram {
 public:
  explicit CfiProgram(const CfiCommon& common) : common_(common), rule_(common.initial) {}

  // The rule after the instructions of a CIE; its kind is unsupported after an unknown one.
  static Rule initial_rule(const CfiCommon& common, std::string_view instructions);

  // Adds the rows of the function that the builder has begun at this address.
  void run(std::string_view instructions, uint64_t begin, TableBuilder& rows);

 private:
  void execute(pi::DwarfBytes& in);
  void execute_extended(pi::DwarfBytes& in, uint64_t operation);
  void execute_cfa(pi::DwarfBytes& in, uint64_t operation);
  void execute_register(pi::DwarfBytes& in, uint64_t operation);
  void advance(uint64_t distance);
  void put_row();
  std::string_view read_block(pi::DwarfBytes& in) const;
  // Both ignore registers that stacks are not unwound with.
  void save(uint64_t reg, SaveKind kind, uint64_t base, int64_t offset);
  void restore(uint64_t reg);
  void set_cfa(uint64_t base, int64_t offset);
  void give_up() { rule_.cfa.kind = CfaKind::unsupported, given_up_ = true; }

  const CfiCommon& common_;
  Rule rule_;
  std::vector<Rule> remembered_;
  std::string_view code_;         // the instructions
  TableBuilder* rows_ = nullptr;  // null while those of a CIE are executed
  uint64_t address_ = 0;
  bool given_up_ = false;
};

}  // namespace unwind

#endif  // UNWIND_CFI_PROGRAM_H
