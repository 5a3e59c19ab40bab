// SPDX-License-Identifier: MIT
// The DWARF expressions that real unwind tables contain, as rules.
#ifndef UNWIND_EXPRESSION_H
#define UNWIND_EXPRESSION_H

#include <optional>
#include <string_view>

#include "table/rule.h"

namespace unwind {

// The rule for a CFA that this expression computes; kind unsupported for other expressions.
Cfa cfa_of_expression(std::string_view expression);

// A register and an offset, if the expression is their sum.
struct RegisterSum {
  uint8_t base;
  int32_t offset;
};
std::optional<RegisterSum> sum_of_expression(std::string_view expression);

}  // namespace unwind

#endif  // UNWIND_EXPRESSION_H
