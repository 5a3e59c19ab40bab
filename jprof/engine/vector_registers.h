// SPDX-License-Identifier: MIT
// Keeps the registers that the code of an event does not touch while other code is called.
#ifndef PI_CALLFLOW_VECTOR_REGISTERS_H
#define PI_CALLFLOW_VECTOR_REGISTERS_H

#include <cpuid.h>

#include <cstdint>

namespace pi::callflow {

// Saves the x87 and vector registers, and restores them when it ends: a patched C function has
// arguments in them. Only what was compiled without their use may be executed before. A processor
// without XSAVE has no patched functions.
class VectorRegisters {
 public:
  VectorRegisters() : can_save_(has_xsave()) {
    // XRSTOR refuses a header with other bits.
    for (size_t i = 0; i < 8; ++i) area()[header + i] = 0;
    if (can_save_)
      __asm__ volatile("xsave64 (%0)" : : "r"(area()), "a"(components), "d"(0) : "memory");
  }
  ~VectorRegisters() {
    if (can_save_)
      __asm__ volatile("xrstor64 (%0)" : : "r"(area()), "a"(components), "d"(0) : "memory");
  }
  VectorRegisters(const VectorRegisters&) = delete;
  VectorRegisters& operator=(const VectorRegisters&) = delete;

 private:
  static constexpr uint32_t components = 0xe7;  // x87, SSE, AVX, AVX-512
  static constexpr size_t header = 512 / 8;

  static bool has_xsave() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_OSXSAVE) != 0;
  }

  volatile uint64_t* area() {
    return reinterpret_cast<uint64_t*>((reinterpret_cast<uintptr_t>(memory_) + 63) &
                                       ~uintptr_t{63});
  }

  bool can_save_;
  char memory_[2688 + 63];  // the standard area up to AVX-512
};

}  // namespace pi::callflow

#endif  // PI_CALLFLOW_VECTOR_REGISTERS_H
