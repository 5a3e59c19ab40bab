// SPDX-License-Identifier: MIT
// Unwinds the stack of a thread in user mode, by tables.
#include "walk_stack.h"

namespace unwind {
namespace {

struct CodeOfTables {
  const FindCode& find;

  Table::Found rule(uint64_t address) const {
    const Code code = find(address);
    return code.table ? code.table->find(address - code.bias) : Table::Found{&no_rule, {}};
  }
  bool is_executable(uint64_t address) const { return find(address).executable; }
};

}  // namespace

Walked walk_stack(const CapturedStack& stack, const FindCode& find, std::span<uint64_t> frames) {
  CodeOfTables code{find};
  return Walk(stack, code).run(frames);
}

}  // namespace unwind
