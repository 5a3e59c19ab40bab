// SPDX-License-Identifier: MIT
// Bytes of code out of a mapped file.
#ifndef A2N_CODE_BYTES_H
#define A2N_CODE_BYTES_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "module_symbols.h"

namespace a2n {

// The bytes at a virtual address of the file that the module was read from, as many as lie in its
// segment; "" when the file is not there any more or is another one.
std::string read_code(const ModuleSymbols& module, uint64_t vaddr, uint64_t length);

// Code of modules read in pieces, which are kept.
class CodePieces {
 public:
  // Copies bytes from a virtual address on; how many, 0: none are known. The module must outlive
  // this.
  size_t read(const ModuleSymbols& module, uint64_t vaddr, char* out, size_t room);

 private:
  std::map<std::pair<const ModuleSymbols*, uint64_t>, std::string> pieces_;  // by vaddr
};

}  // namespace a2n

#endif  // A2N_CODE_BYTES_H
