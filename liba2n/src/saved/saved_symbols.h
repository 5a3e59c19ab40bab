// SPDX-License-Identifier: MIT
// The contents of an MSI file: symbols read from files, for use on another machine.
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

// A requested module and its symbols. A file that could not be used is stored, too, with the reason
// in notes, so that the other machine reports the same notes.
struct SavedModule {
  std::string path;                     // as mapped
  std::optional<std::string> build_id;  // from the trace, else the file's own; see ModuleRequest
  uint64_t inode = 0;                   // not 0 if several inodes were mapped under the path
  uint64_t length = 0;                  // of the vDSO's mapping in bytes; 0 for other modules
  std::vector<std::string> notes;
  std::shared_ptr<const ModuleSymbols> content;  // never null
};

// A traced kernel's symbols at the addresses of that boot.
struct SavedKernel {
  KernelSymbols symbols;
  std::optional<KernelImage> image;
  std::vector<std::string> notes;
};

struct SavedSymbols {
  std::vector<SavedModule> modules;
  std::optional<SavedKernel> kernel;         // only for the trace that the file was saved for
  std::optional<KernelSource> kernel_image;  // independent of a boot
};

}  // namespace a2n

#endif  // A2N_SAVED_SYMBOLS_H
