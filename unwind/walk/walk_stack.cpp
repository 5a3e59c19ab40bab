// SPDX-License-Identifier: MIT
// Unwinds the stack of a thread in user mode, by tables.
#include "walk_stack.h"

namespace unwind {
namespace {

struct Rules {
  CodeOfProcess& of;

  Table::Found rule(const FramePlace& place) const {
    const Code code = of.find(place);
    if (code.rule) return code.rule->found();
    return code.table ? code.table->find(place.address - code.bias) : Table::Found{&no_rule, {}};
  }
  bool is_executable(uint64_t address) const { return of.is_executable(address); }
  std::span<const std::byte> stack_at(uint64_t address, uint64_t signal_frame) const {
    return of.stack_at(address, signal_frame);
  }
};

class CodeOfTables : public CodeOfProcess {
 public:
  explicit CodeOfTables(const FindCode& find) : find_(find) {}
  Code find(const FramePlace& place) override { return find_(place.address); }
  bool is_executable(uint64_t address) override { return find_(address).executable; }

 private:
  const FindCode& find_;
};

}  // namespace

Walked walk_stack(const CapturedStack& stack, CodeOfProcess& code, std::span<uint64_t> frames) {
  Rules rules{code};
  return Walk(stack, rules).run(frames);
}

Walked walk_stack(const CapturedStack& stack, const FindCode& find, std::span<uint64_t> frames) {
  CodeOfTables code(find);
  return walk_stack(stack, code, frames);
}

}  // namespace unwind
