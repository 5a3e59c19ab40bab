// SPDX-License-Identifier: MIT
// Symbols as they are kept in an MSI file: what gathering from files gave, for another machine.
#ifndef A2N_SAVED_SYMBOLS_H
#define A2N_SAVED_SYMBOLS_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "elf/module_symbols.h"
#include "kernel/kernel_image.h"
#include "kernel/kernel_symbols.h"

namespace a2n {

// What was asked for and what came of it. A file that could not be used is kept as well: then the
// notes say why, here as there.
struct SavedModule {
  std::string path;                     // as mapped
  std::optional<std::string> build_id;  // as traced, else the file's own; see ModuleRequest
  uint64_t inode = 0;                   // not 0 where the path alone proves nothing
  uint64_t length = 0;                  // of the vdso's mapping; 0 for all else
  std::vector<std::string> notes;
  std::shared_ptr<const ModuleSymbols> content;  // never null
};

// A traced kernel's symbols, at the addresses of that boot.
struct SavedKernel {
  KernelSymbols symbols;
  std::optional<KernelImage> image;
  std::vector<std::string> notes;
};

struct SavedSymbols {
  std::vector<SavedModule> modules;
  std::optional<SavedKernel> kernel;         // of the very trace the file was saved for
  std::optional<KernelSource> kernel_image;  // of no boot in particular
};

}  // namespace a2n

#endif  // A2N_SAVED_SYMBOLS_H
