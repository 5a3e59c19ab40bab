// SPDX-License-Identifier: MIT
// Code to which signal handlers return, in files whose unwind information does not say so.
#ifndef UNWIND_SIGNAL_RETURN_H
#define UNWIND_SIGNAL_RETURN_H

#include <cstdint>
#include <string_view>
#include <vector>

#include "table/rule.h"

namespace unwind {

inline constexpr uint64_t signal_return_bytes = 9;

// Where it begins, in bytes from the first one of code; at most some.
std::vector<uint64_t> signal_returns(std::string_view code);

// At its first instruction the stack pointer is where the kernel has saved the interrupted
// registers.
Rule signal_return_rule();

}  // namespace unwind

#endif  // UNWIND_SIGNAL_RETURN_H
