// SPDX-License-Identifier: MIT
// What the kernel's programs have in common: they copy registers and a stack into one ring.
#ifndef HEAPWATCH_RECORD_PROGRAM_H
#define HEAPWATCH_RECORD_PROGRAM_H

#include <cstddef>
#include <cstdint>

#include "bpf_program.h"
#include "call.h"

namespace heapwatch {

// Shared with the programs in the kernel.
struct Control {
  uint64_t lost, on;
  uint64_t ended;  // the process has become another program
};

// What registers are for in all programs. context: the thread's registers, a struct pt_regs.
inline constexpr BpfProgram::Register result = 0, first = 1, second = 2, third = 3, fourth = 4,
                                      context = 6, record = 7, shared = 8, kept = 9, frame = 10;

constexpr ptrdiff_t place_of(UserRegister reg) {
  return ptrdiff_t{reg} * ptrdiff_t{sizeof(uint64_t)};
}

// Below the frame pointer: a key of a map, which is the thread; its value; and more.
inline constexpr ptrdiff_t key_place = -8, value_place = -16, more_place = -24;

// The second argument of a call that looks a key up.
void put_key(BpfProgram& program);

// Ends the program unless control.on is set, and not control.ended; shared points to control then.
void end_unless_on(BpfProgram& program, int control);
void exit_program(BpfProgram& program);

// Reserves space for a Call with most_pages of stack, to which record points then. Without space it
// counts the loss and ends the program.
void begin_record(BpfProgram& program, int ring, size_t most_pages);
// All of Call but its value.
void fill_record(BpfProgram& program, uint32_t probe);
// The pages from that of the stack pointer on, up to the first one that cannot be read, unless the
// value of Call is 0.
void copy_stack(BpfProgram& program);
// Wakes the reader when the ring has filled to a part; else it comes by itself.
void submit(BpfProgram& program, int ring);

}  // namespace heapwatch

#endif  // HEAPWATCH_RECORD_PROGRAM_H
