// SPDX-License-Identifier: MIT
// Reads bytes of code from a mapped file.
#ifndef A2N_CODE_BYTES_H
#define A2N_CODE_BYTES_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "module_symbols.h"

namespace a2n {

// At most length bytes at a virtual address of the module's file, limited to the address's segment;
// "" if the file no longer exists or was replaced.
std::string read_code(const ModuleSymbols& module, uint64_t vaddr, uint64_t length);

// Reads code of modules in pieces and caches them.
class CodePieces {
 public:
  // Copies at most room bytes from a virtual address on; returns how many, 0 if the code is not
  // available. The module must outlive this object.
  size_t read(const ModuleSymbols& module, uint64_t vaddr, char* out, size_t room);

 private:
  using Pieces = std::map<uint64_t, std::string>;  // by vaddr
  struct Module {
    Pieces pieces;
    uint64_t bytes = 0;  // size of all pieces
  };
  static const std::string& piece(const ModuleSymbols& module, Module& kept, uint64_t start);

  std::map<const ModuleSymbols*, Module> modules_;
};

}  // namespace a2n

#endif  // A2N_CODE_BYTES_H
