// SPDX-License-Identifier: MIT
// Reads the bounds of functions from the unwind table (.eh_frame), which stripped files keep.
#ifndef A2N_UNWIND_FUNCTIONS_H
#define A2N_UNWIND_FUNCTIONS_H

#include <cstdint>
#include <vector>

#include "elf_file.h"
#include "pi/result.h"

namespace a2n {

// The code that one entry (FDE) of the table describes: a function, or a part of a function that
// the compiler moved elsewhere.
struct FunctionRange {
  uint64_t start;
  uint32_t size;  // limited to 4 GiB - 1
  bool contains(uint64_t address) const { return address >= start && address - start < size; }
};

// Sorted by start, each start once, all inside the file's code. Empty for a file without a valid
// table; an error when the table exceeds its budget.
pi::Result<std::vector<FunctionRange>> read_unwind_functions(const ElfFile& file);

}  // namespace a2n

#endif  // A2N_UNWIND_FUNCTIONS_H
