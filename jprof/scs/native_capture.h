// SPDX-License-Identifier: MIT
// What a signal handler copies of the thread that it has interrupted in native code.
#ifndef PI_JPROF_NATIVE_CAPTURE_H
#define PI_JPROF_NATIVE_CAPTURE_H

#include <sys/ucontext.h>

#include <cstddef>
#include <cstdint>

#include "table/registers_x86.h"

namespace pi::jprof {

// Where the JVM's compilers, and the JVM itself, put code.
struct CodeRange {
  uint64_t begin = 0, end = 0;
  bool contains(uint64_t address) const { return address >= begin && address < end; }
};

// The registers by DWARF number, then the stack from its pointer on, as far as it is mapped.
constexpr size_t captured_stack_bytes = 32 << 10;
constexpr size_t capture_words = unwind::register_count + captured_stack_bytes / sizeof(uint64_t);

uint64_t instruction_of(const ucontext_t& context);

// In a signal handler; the kernel copies, so that nothing can fault. words: space for a capture.
// Returns how many were written: those of the registers only, if the stack cannot be read.
size_t capture(const ucontext_t& context, uint64_t* words);

}  // namespace pi::jprof

#endif  // PI_JPROF_NATIVE_CAPTURE_H
