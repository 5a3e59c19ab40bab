// SPDX-License-Identifier: MIT
// Finds the file of a traced module and its separate debug file, and refuses what is not the one
// traced.
#ifndef A2N_MODULE_LOADER_H
#define A2N_MODULE_LOADER_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/notes.h"
#include "debuginfod.h"
#include "module_symbols.h"

namespace a2n {

// Where a process had the file mapped.
struct ModulePlace {
  uint32_t pid;
  uint64_t begin;
  uint64_t end;
};

struct ModuleRequest {
  std::string path;  // as mapped; may end in " (deleted)"
  // As traced: lower-case hex, "" for a file that had none, "?" for one that changed, "!" for one
  // that had not this path where the recorder ran; nothing when the trace has none.
  std::optional<std::string> build_id;
  // Not 0: files of other inodes were mapped under that path too, so the path alone proves nothing.
  uint64_t inode = 0;
  std::vector<std::string> search;  // directories
  // The one that was mapped, 0: not known. Compared where there is no build-id to go by.
  uint64_t mapped_inode = 0;
  std::vector<ModulePlace> places;  // processes to ask for the file, while they live
  // False: a file that is not shown to be the traced one is used all the same, and a note says so.
  bool validate = true;
  // Asked for the debug file of a file without symbols; null: no servers.
  Debuginfod* debuginfod = nullptr;
};

// Never fails: what could not be used is in notes, and the result then is not usable.
ModuleSymbols load_module(const ModuleRequest& request, Notes& notes);

}  // namespace a2n

#endif  // A2N_MODULE_LOADER_H
