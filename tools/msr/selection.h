// SPDX-License-Identifier: MIT
// A selection on the command line: a register, some of its bits, a value for them.
#ifndef PI_MSR_SELECTION_H
#define PI_MSR_SELECTION_H

#include <cstdint>
#include <optional>
#include <string>

#include <pi/result.h>

#include "registers.h"

namespace pi::msr {

struct Selection {
  uint32_t number = 0;
  const Register* known = nullptr;  // null: no name is known
  unsigned high = 63, low = 0;      // bits, both included
  std::string bits;                 // as the user named them, or empty: all
  std::optional<uint64_t> value;    // to be written to these bits

  bool whole() const { return high == 63 && low == 0; }
};

// "REGISTER[:BITS][=VALUE]". REGISTER is a number or a name, BITS HIGH-LOW, one bit, or a field's
// name; numbers are decimal or 0xHEX. The error's text says what is wrong.
Result<Selection> parse_selection(const std::string& text);

// The bits' value, and a register's value with the bits replaced.
uint64_t bits_of(uint64_t whole, unsigned high, unsigned low);
uint64_t with_bits(uint64_t whole, unsigned high, unsigned low, uint64_t value);

}  // namespace pi::msr

#endif  // PI_MSR_SELECTION_H
