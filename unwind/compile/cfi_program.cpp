// SPDX-License-Identifier: MIT
// Executes the instructions of call frame information once.
#include "cfi_program.h"

#include <dwarf.h>

#include <limits>

#include "expression.h"

namespace unwind {
namespace {

// Compilers nest two or three deep.
constexpr size_t max_remembered = 64;

bool fits(int64_t offset) {
  return offset >= std::numeric_limits<int32_t>::min() &&
         offset <= std::numeric_limits<int32_t>::max();
}

// The product, or a number that fits nowhere.
int64_t times(uint64_t factor, int64_t alignment) {
  int64_t product = 0;
  if (factor > INT64_MAX ||
      __builtin_mul_overflow(static_cast<int64_t>(factor), alignment, &product))
    return INT64_MAX;
  return product;
}

int64_t signed_times(int64_t factor, int64_t alignment) {
  int64_t product = 0;
  return __builtin_mul_overflow(factor, alignment, &product) ? INT64_MAX : product;
}

}  // namespace

Rule CfiProgram::initial_rule(const CfiCommon& common, std::string_view instructions) {
  CfiProgram program(common);
  pi::DwarfBytes in(instructions);
  program.code_ = instructions;
  while (in.good() && in.left() != 0 && !program.given_up_) program.execute(in);
  if (!in.good()) program.give_up();
  return program.rule_;
}

void CfiProgram::run(std::string_view instructions, uint64_t begin, TableBuilder& rows) {
  rows_ = &rows;
  address_ = begin;
  code_ = instructions;
  pi::DwarfBytes in(instructions);
  while (in.good() && in.left() != 0 && !given_up_) execute(in);
  if (!in.good()) give_up();
  put_row();
}

std::string_view CfiProgram::read_block(pi::DwarfBytes& in) const {
  const uint64_t size = in.leb128();
  const uint64_t begin = in.at();
  in.skip(size);
  return in.good() ? code_.substr(begin, size) : std::string_view();
}

void CfiProgram::put_row() {
  if (!rows_) return;
  Rule row = rule_;
  row.cfa.flags = common_.signal ? rule_signal : 0;
  const SaveKind caller = row.saves[return_address].kind;
  if (row.cfa.kind != CfaKind::unsupported) {
    if (caller == SaveKind::lost) row.cfa.kind = CfaKind::end;
    if (caller == SaveKind::same) row.cfa.kind = CfaKind::unsupported;
  }
  // Such rows are all alike.
  if (row.cfa.kind == CfaKind::unsupported || row.cfa.kind == CfaKind::end) {
    const CfaKind kind = row.cfa.kind;
    row = Rule{};
    row.cfa.kind = kind;
  }
  rows_->add_row(address_, row);
}

void CfiProgram::advance(uint64_t distance) {
  put_row();
  if (!rows_ || __builtin_mul_overflow(distance, common_.code_alignment, &distance) ||
      __builtin_add_overflow(address_, distance, &address_))
    give_up();
}

void CfiProgram::save(uint64_t reg, SaveKind kind, uint64_t base, int64_t offset) {
  if (reg >= register_count) return;
  if (base >= register_count || !fits(offset)) return give_up();
  rule_.saves[reg] = {kind, static_cast<uint8_t>(base), 0, 0, static_cast<int32_t>(offset)};
}

void CfiProgram::restore(uint64_t reg) {
  if (reg < register_count) rule_.saves[reg] = common_.initial.saves[reg];
}

void CfiProgram::set_cfa(uint64_t base, int64_t offset) {
  if (base >= register_count || !fits(offset)) return give_up();
  rule_.cfa = {
      CfaKind::offset, static_cast<uint8_t>(base), 0, 0, static_cast<int32_t>(offset), 0, 0};
}

void CfiProgram::execute(pi::DwarfBytes& in) {
  const uint64_t operation = in.number(1);
  const uint64_t operand = operation & 0x3f;
  switch (operation & 0xc0) {
    case DW_CFA_advance_loc:
      return advance(operand);
    case DW_CFA_offset:
      return save(operand, SaveKind::at_cfa, 0, times(in.leb128(), common_.data_alignment));
    case DW_CFA_restore:
      return restore(operand);
    default:
      return execute_extended(in, operation);
  }
}

void CfiProgram::execute_extended(pi::DwarfBytes& in, uint64_t operation) {
  switch (operation) {
    case DW_CFA_nop:
      return;
    case DW_CFA_advance_loc1:
      return advance(in.number(1));
    case DW_CFA_advance_loc2:
      return advance(in.number(2));
    case DW_CFA_advance_loc4:
      return advance(in.number(4));
    case DW_CFA_remember_state:
      if (remembered_.size() == max_remembered) return give_up();
      return remembered_.push_back(rule_);
    case DW_CFA_restore_state:
      if (remembered_.empty()) return give_up();
      rule_ = remembered_.back();
      return remembered_.pop_back();
    case DW_CFA_GNU_args_size:
      in.leb128();
      return;
    case DW_CFA_def_cfa:
    case DW_CFA_def_cfa_sf:
    case DW_CFA_def_cfa_register:
    case DW_CFA_def_cfa_offset:
    case DW_CFA_def_cfa_offset_sf:
    case DW_CFA_def_cfa_expression:
      return execute_cfa(in, operation);
    default:
      return execute_register(in, operation);
  }
}

void CfiProgram::execute_cfa(pi::DwarfBytes& in, uint64_t operation) {
  if (operation == DW_CFA_def_cfa_expression) {
    rule_.cfa = cfa_of_expression(read_block(in));
    return;
  }
  const bool is_sum = rule_.cfa.kind == CfaKind::offset;
  uint64_t base = rule_.cfa.base;
  int64_t offset = rule_.cfa.offset;
  if (operation == DW_CFA_def_cfa || operation == DW_CFA_def_cfa_sf ||
      operation == DW_CFA_def_cfa_register)
    base = in.leb128();
  if (operation == DW_CFA_def_cfa || operation == DW_CFA_def_cfa_offset)
    offset = times(in.leb128(), 1);
  if (operation == DW_CFA_def_cfa_sf || operation == DW_CFA_def_cfa_offset_sf)
    offset = signed_times(in.signed_leb128(), common_.data_alignment);
  const bool sets_both = operation == DW_CFA_def_cfa || operation == DW_CFA_def_cfa_sf;
  if (!sets_both && !is_sum) return give_up();
  set_cfa(base, offset);
}

void CfiProgram::execute_register(pi::DwarfBytes& in, uint64_t operation) {
  const uint64_t reg = in.leb128();
  const int64_t alignment = common_.data_alignment;
  switch (operation) {
    case DW_CFA_offset_extended:
      return save(reg, SaveKind::at_cfa, 0, times(in.leb128(), alignment));
    case DW_CFA_offset_extended_sf:
      return save(reg, SaveKind::at_cfa, 0, signed_times(in.signed_leb128(), alignment));
    case DW_CFA_GNU_negative_offset_extended:
      return save(reg, SaveKind::at_cfa, 0,
                  times(in.leb128(), alignment == INT64_MIN ? 0 : -alignment));
    case DW_CFA_val_offset:
      return save(reg, SaveKind::cfa, 0, times(in.leb128(), alignment));
    case DW_CFA_val_offset_sf:
      return save(reg, SaveKind::cfa, 0, signed_times(in.signed_leb128(), alignment));
    case DW_CFA_register:
      return save(reg, SaveKind::in_base, in.leb128(), 0);
    case DW_CFA_same_value:
      return save(reg, SaveKind::same, 0, 0);
    case DW_CFA_undefined:
      return save(reg, SaveKind::lost, 0, 0);
    case DW_CFA_restore_extended:
      return restore(reg);
    case DW_CFA_expression:
    case DW_CFA_val_expression: {
      const auto sum = sum_of_expression(read_block(in));
      if (!sum && reg == return_address) return give_up();
      // Stacks are unwound without it where that is possible.
      if (!sum) return save(reg, SaveKind::lost, 0, 0);
      const bool is_value = operation == DW_CFA_val_expression;
      return save(reg, is_value ? SaveKind::in_base : SaveKind::at_base, sum->base, sum->offset);
    }
    default:  // among others DW_CFA_set_loc, which no compiler for this machine writes
      return give_up();
  }
}

}  // namespace unwind
