// SPDX-License-Identifier: MIT
// Bytes of code out of a mapped file.
#ifndef A2N_CODE_BYTES_H
#define A2N_CODE_BYTES_H

#include <cstdint>
#include <string>

#include "module_symbols.h"

namespace a2n {

// The bytes at a virtual address of the file that the module was read from, as many as lie in its
// segment; "" when the file is not there any more or is another one.
std::string read_code(const ModuleSymbols& module, uint64_t vaddr, uint64_t length);

}  // namespace a2n

#endif  // A2N_CODE_BYTES_H
