// SPDX-License-Identifier: MIT
// Unwinds the stack of a thread in user mode, by tables.
#ifndef UNWIND_WALK_STACK_H
#define UNWIND_WALK_STACK_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "table/table.h"
#include "walk.h"

namespace unwind {

// What is known about the code at an address of the process.
struct Code {
  bool executable = false;          // it is mapped
  const Table* table = nullptr;     // of its file
  uint64_t bias = 0;                // address in the process minus offset in the file
  const OwnedRule* rule = nullptr;  // instead of the table's
};

// What walk_stack() asks.
class CodeOfProcess {
 public:
  virtual ~CodeOfProcess() = default;
  virtual Code find(const FramePlace& place) = 0;
  virtual bool is_executable(uint64_t address) = 0;
  // Of an interrupted stack: see Walk.
  virtual std::span<const std::byte> stack_at(uint64_t, uint64_t) { return {}; }
};

// Writes the addresses of the callers, innermost first; not that of the registers themselves. A
// caller that a signal has interrupted is written as the address behind the first byte of its
// instruction, so that every frame minus one is inside the caller's instruction.
Walked walk_stack(const CapturedStack& stack, CodeOfProcess& code, std::span<uint64_t> frames);

// For code whose rules are in tables only.
using FindCode = std::function<Code(uint64_t address)>;
Walked walk_stack(const CapturedStack& stack, const FindCode& find, std::span<uint64_t> frames);

}  // namespace unwind

#endif  // UNWIND_WALK_STACK_H
