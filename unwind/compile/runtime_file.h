// SPDX-License-Identifier: MIT
// Which runtime an ELF file contains, by the symbols that it exports.
#ifndef UNWIND_RUNTIME_FILE_H
#define UNWIND_RUNTIME_FILE_H

#include <libelf.h>

#include <cstdint>
#include <vector>

#include "table/runtime.h"

namespace unwind {

struct RuntimeFile {
  Runtime runtime = Runtime::none;
  std::vector<uint64_t> symbols;  // addresses in the file's image, in the order of runtime.h
};

RuntimeFile find_runtime(Elf* elf);

}  // namespace unwind

#endif  // UNWIND_RUNTIME_FILE_H
