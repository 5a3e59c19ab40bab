// SPDX-License-Identifier: MIT
// Source lines of modules. Each module's DWARF is read by the first request for it.
#ifndef A2N_SOURCES_H
#define A2N_SOURCES_H

#include <unordered_map>

#include "base/notes.h"
#include "dwarf/source_index.h"
#include "elf/debuginfod.h"
#include "elf/module_symbols.h"
#include "saved/source_cache.h"

namespace a2n {

class Sources {
 public:
  // debuginfod: for files that debug files refer to.
  Sources(Notes& notes, Debuginfod& debuginfod) : notes_(notes), debuginfod_(debuginfod) {}

  SourceCache& cache() { return cache_; }

  // The source lines of a module, empty if it has no DWARF. The module must outlive this object.
  const SourceIndex& of(const ModuleSymbols& module);

 private:
  SourceIndex read(const ModuleSymbols& module);

  Notes& notes_;
  Debuginfod& debuginfod_;
  SourceCache cache_;
  std::unordered_map<const ModuleSymbols*, SourceIndex> indices_;
};

}  // namespace a2n

#endif  // A2N_SOURCES_H
