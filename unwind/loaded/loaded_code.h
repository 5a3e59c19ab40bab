// SPDX-License-Identifier: MIT
// The rule of an instruction of this process, from the unwind information that the loader has
// mapped.
#ifndef UNWIND_LOADED_CODE_H
#define UNWIND_LOADED_CODE_H

#include <array>
#include <cstdint>
#include <span>

#include "table/rule.h"
#include "table/table.h"

namespace unwind {

// A rule with its own memory.
struct OwnedRule {
  Cfa cfa;
  std::array<Save, register_count> saves{};  // the first cfa.saves ones

  Table::Found found() const { return {&cfa, {saves.data(), cfa.saves}}; }
};

// Is there a file at this address?
bool is_loaded(uint64_t address);

// Kind none: there is no information about this code. Calls operator new, and no other function
// that allocates; without memory it is none, too.
OwnedRule find_rule(uint64_t address);

}  // namespace unwind

#endif  // UNWIND_LOADED_CODE_H
