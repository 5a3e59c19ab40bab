// SPDX-License-Identifier: MIT
// The registers of x86-64 that stacks are unwound with, by their DWARF numbers.
#ifndef UNWIND_REGISTERS_X86_H
#define UNWIND_REGISTERS_X86_H

#include <elf.h>

#include <array>
#include <cstdint>

namespace unwind {

inline constexpr uint16_t elf_machine = EM_X86_64;
inline constexpr unsigned register_count = 17;
inline constexpr unsigned frame_pointer = 6, stack_pointer = 7, return_address = 16, rbx = 3;

// By DWARF number; of a thread in user mode, its instruction pointer is the return address.
using Registers = std::array<uint64_t, register_count>;

}  // namespace unwind

#endif  // UNWIND_REGISTERS_X86_H
