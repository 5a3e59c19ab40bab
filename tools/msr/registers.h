// SPDX-License-Identifier: MIT
// The registers that have names, and the meaning of their bits.
#ifndef PI_MSR_REGISTERS_H
#define PI_MSR_REGISTERS_H

#include <cstdint>
#include <span>
#include <string_view>

namespace pi::msr {

struct Field {
  const char* name;
  unsigned high, low;  // bits, both included
  const char* meaning;
};

struct Register {
  uint32_t number;
  const char* name;
  const char* meaning;
  std::span<const Field> fields = {};
};

std::span<const Register> known_registers();

// Ignores the case of name and a missing prefix IA32_; null if there is no such register.
const Register* find_register(std::string_view name);
const Register* find_register(uint32_t number);
const Field* find_field(const Register& known, std::string_view name);

}  // namespace pi::msr

#endif  // PI_MSR_REGISTERS_H
