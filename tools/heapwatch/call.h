// SPDX-License-Identifier: MIT
// A call of a function of an allocator, or its return, as the kernel's side writes it.
#ifndef HEAPWATCH_CALL_H
#define HEAPWATCH_CALL_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace heapwatch {

// By the meaning of their arguments.
enum class Function : uint8_t {
  malloc,          // bytes; also valloc() and pvalloc()
  calloc,          // count, bytes
  realloc,         // block, bytes
  reallocarray,    // block, count, bytes
  posix_memalign,  // where the block's address goes, alignment, bytes
  aligned,         // alignment, bytes: aligned_alloc() and memalign()
  free,            // block
  dlclose,
  futex,  // the system call: a wait
};

// The order of the kernel's struct pt_regs.
enum UserRegister : uint8_t {
  r15,
  r14,
  r13,
  r12,
  rbp,
  rbx,
  r11,
  r10,
  r9,
  r8,
  rax,
  rcx,
  rdx,
  rsi,
  rdi,
  orig_rax,
  rip,
  cs,
  eflags,
  rsp,
  ss,
  user_registers
};

inline constexpr size_t page_bytes = 4096, max_pages = 4;

// The memory from the page of the stack pointer on follows where a function that allocates
// returns.
struct Call {
  uint32_t probe;
  uint32_t thread;
  uint64_t lost;   // calls that were lost until now
  uint64_t value;  // what the function returns, or for posix_memalign() the block
  std::array<uint64_t, user_registers> registers;
  uint32_t pages;  // of the stack that could be read
  uint32_t reserved;
};

}  // namespace heapwatch

#endif  // HEAPWATCH_CALL_H
