// SPDX-License-Identifier: MIT
// Bytes of code out of a mapped file.
#ifndef A2N_CODE_BYTES_H
#define A2N_CODE_BYTES_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

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
  using Pieces = std::map<uint64_t, std::string>;  // by vaddr
  struct Module {
    Pieces pieces;
    uint64_t bytes = 0;  // of all pieces
  };
  static const std::string& piece(const ModuleSymbols& module, Module& kept, uint64_t start);

  std::map<const ModuleSymbols*, Module> modules_;
};

}  // namespace a2n

#endif  // A2N_CODE_BYTES_H
