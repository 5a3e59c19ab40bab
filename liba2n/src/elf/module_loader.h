// SPDX-License-Identifier: MIT
// Finds the file of a traced module and its separate debug file, and rejects files that differ from
// the traced one.
#ifndef A2N_MODULE_LOADER_H
#define A2N_MODULE_LOADER_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <pi/result.h>
#include <pi/unique_fd.h>

#include "base/notes.h"
#include "debuginfod.h"
#include "module_symbols.h"
#include "read_files.h"

namespace a2n {

// A mapping of the file in a process.
struct ModuleMapping {
  uint32_t pid;
  uint64_t begin;
  uint64_t end;
  uint64_t time;  // of the trace; the process that had the id then is the one meant. 0: not known
};

struct ModuleRequest {
  std::string path;  // as mapped; may end in " (deleted)"
  // From the trace: lower-case hex, "" for a file without build-id, "?" for a file that changed,
  // "!" for a path that was not in the recorder's view of the file system; nullopt if the trace has
  // no information.
  std::optional<std::string> build_id;
  // The file's inode if several inodes were mapped under that path, so that the path does not
  // identify the file; else 0.
  uint64_t inode = 0;
  std::vector<std::string> search;  // directories
  // The mapped inode; 0: not known. Compared if the file has no build-id.
  uint64_t mapped_inode = 0;
  std::vector<ModuleMapping> mappings;  // while these processes run, /proc gives access to the file
  // False: a file is used even if it does not match the trace, and a note reports that.
  bool validate = true;
  // Asked for the debug file of a file without symbols; null: no servers.
  Debuginfod* debuginfod = nullptr;
};

// Never fails and never returns null. If no file can be used, the result is not usable and notes
// has the reason. files: what was read for other modules of this run.
std::shared_ptr<const ModuleSymbols> load_module(const ModuleRequest& request, ReadFiles& files,
                                                 Notes& notes);

// The mapped file itself, open for reading. The error's code is ENOENT if no file is there; its
// message is the reason.
pi::Result<pi::UniqueFd> open_module(const ModuleRequest& request);

}  // namespace a2n

#endif  // A2N_MODULE_LOADER_H
