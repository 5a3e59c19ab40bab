// SPDX-License-Identifier: MIT
// The registers of x86-64 that perf copies for unwinding, and their order.
#ifndef PI_PERFUTIL_USER_REGISTERS_X86_H
#define PI_PERFUTIL_USER_REGISTERS_X86_H

#include <asm/perf_regs.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "perfutil.h"

namespace pi::perfutil {

// Register numbers of perf, in the order of DWARF's.
inline constexpr std::array<unsigned, PI_STACK_REGISTERS> perf_registers{
    PERF_REG_X86_AX,  PERF_REG_X86_DX,  PERF_REG_X86_CX,  PERF_REG_X86_BX,  PERF_REG_X86_SI,
    PERF_REG_X86_DI,  PERF_REG_X86_BP,  PERF_REG_X86_SP,  PERF_REG_X86_R8,  PERF_REG_X86_R9,
    PERF_REG_X86_R10, PERF_REG_X86_R11, PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14,
    PERF_REG_X86_R15, PERF_REG_X86_IP};

constexpr uint64_t mask_of(const std::array<unsigned, PI_STACK_REGISTERS>& registers) {
  uint64_t mask = 0;
  for (const unsigned number : registers) mask |= uint64_t{1} << number;
  return mask;
}
// A sample has the values of these registers in the order of perf's numbers.
inline constexpr uint64_t user_register_mask = mask_of(perf_registers);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_USER_REGISTERS_X86_H
