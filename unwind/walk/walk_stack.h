// SPDX-License-Identifier: MIT
// Unwinds the stack of a thread in user mode, by tables.
#ifndef UNWIND_WALK_STACK_H
#define UNWIND_WALK_STACK_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "table/registers_x86.h"
#include "table/table.h"

namespace unwind {

// What is known about the code at an address of the process.
struct Code {
  bool executable = false;       // it is mapped
  const Table* table = nullptr;  // of its file
  uint64_t bias = 0;             // address in the process minus offset in the file
};
using FindCode = std::function<Code(uint64_t address)>;

// How a stack ends.
enum class End : uint8_t {
  whole,    // at the start of its thread
  cut,      // where the captured bytes, or the space for frames, end
  unknown,  // at code whose caller is not known
};

struct Walked {
  size_t frames = 0;    // written
  size_t by_table = 0;  // of these, the innermost ones, which tables have found
  End end = End::unknown;
};

// The thread, and the memory from its stack pointer on.
struct CapturedStack {
  Registers registers{};
  std::span<const std::byte> bytes;
};

// Writes the addresses of the callers, innermost first; not that of the registers themselves. A
// caller that a signal has interrupted is written as the address behind the first byte of its
// instruction, so that every frame minus one is inside the caller's instruction.
Walked walk_stack(const CapturedStack& stack, const FindCode& find, std::span<uint64_t> frames);

}  // namespace unwind

#endif  // UNWIND_WALK_STACK_H
