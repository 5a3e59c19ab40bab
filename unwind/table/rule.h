// SPDX-License-Identifier: MIT
// Where the caller's registers are, at one instruction.
#ifndef UNWIND_RULE_H
#define UNWIND_RULE_H

#include <array>
#include <cstdint>

#include "registers_x86.h"

namespace unwind {

// How the canonical frame address (CFA) is computed: the stack pointer before the call.
enum class CfaKind : uint8_t {
  none,         // no information about this code
  unsupported,  // information that this library cannot use
  offset,       // register + offset
  dereference,  // the word at register + offset, + second
  plt,          // register + offset, + 8 where (instruction pointer & 15) >= second
  end           // the outermost frame: nothing has called it
};
inline constexpr auto last_cfa_kind = CfaKind::end;

struct Cfa {
  CfaKind kind = CfaKind::none;
  uint8_t base = 0;   // DWARF number of a register
  uint8_t flags = 0;  // rule_*
  uint8_t saves = 0;  // in a table: how many of its register rules belong to this rule
  int32_t offset = 0;
  int32_t second = 0;
  uint32_t first = 0;  // in a table: index of the first of them
  bool operator==(const Cfa&) const = default;
};
static_assert(sizeof(Cfa) == 16);
inline constexpr Cfa no_rule{};

// The frame was made by the kernel for a signal handler: the caller's address is that of the
// instruction that was interrupted, not behind a call.
inline constexpr uint8_t rule_signal = 1;
// The code was made at run time, or is that of an interpreter, whose calls all set a frame pointer:
// the rule is that of its calls. It may be wrong at other instructions.
inline constexpr uint8_t rule_runtime = 2;

// Where the caller's value of a register is.
enum class SaveKind : uint8_t {
  same,     // it was not changed
  lost,     // nowhere
  at_cfa,   // the word at CFA + offset
  cfa,      // CFA + offset is the value
  at_base,  // the word at another register + offset
  in_base,  // another register + offset is the value
};
inline constexpr auto last_save_kind = SaveKind::in_base;

struct Save {
  SaveKind kind = SaveKind::same;
  uint8_t base = 0;
  uint8_t reg = 0;  // in a table: whose rule it is
  uint8_t reserved = 0;
  int32_t offset = 0;
  bool operator==(const Save&) const = default;
};
static_assert(sizeof(Save) == 8);

// All rules of one instruction. The stack pointer's caller value is the CFA unless it has a rule.
struct Rule {
  Cfa cfa;
  std::array<Save, register_count> saves{};
  bool operator==(const Rule&) const = default;
};

}  // namespace unwind

#endif  // UNWIND_RULE_H
