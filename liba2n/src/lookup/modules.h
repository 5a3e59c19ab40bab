// SPDX-License-Identifier: MIT
// The traced modules. Each file is loaded once for all processes, by the first lookup in it.
#ifndef A2N_MODULES_H
#define A2N_MODULES_H

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/interner.h"
#include "base/notes.h"
#include "elf/module_loader.h"
#include "elf/module_symbols.h"
#include "saved/saved_modules.h"
#include "saved/saved_symbols.h"

namespace a2n {

enum class ModuleKind : uint8_t { file, vdso, vsyscall_64, vsyscall_32, label };

// A path and the inode that was mapped under it (0: not known).
struct Module {
  const char* name;
  uint64_t inode;
  ModuleKind kind;
  std::vector<ModuleMapping> mappings;  // the first and the newest mappings, see add_mapping()
  size_t mapped = 0;                    // number of mappings

  void add_mapping(const ModuleMapping& mapping);
};

// The result of loading a file, also if it was not found. The content never moves.
using LoadedModule = SavedModule;

class Modules {
 public:
  Modules(Interner& interner, Notes& notes)
      : interner_(interner), notes_(notes), debuginfod_(notes) {}

  void set_search_path(std::string_view path);
  // inode 0: the build-id of each file with that path for which no call has the inode. False if
  // build_id is not valid.
  bool set_build_id(const char* path, uint64_t inode, std::string_view build_id);
  // Nullopt: no call of set_build_id() was made, or the module is not a file. "?": none was made
  // for this file.
  std::optional<std::string> build_id(const Module& module) const;

  // The source of debug files that are not on this machine.
  Debuginfod& debuginfod() { return debuginfod_; }

  // Uses these symbols from now on, and reads no files. Call it before get().
  void set_saved(std::vector<SavedModule> modules);
  // False: files are used even if they do not match the trace; a note reports that.
  void set_validate(bool on) { validate_ = on; }

  bool empty() const { return modules_.empty(); }
  Module* get(const char* name, uint32_t stamp, uint64_t inode);

  // The file's content, or null if no file is usable. base, length: a mapping of the module, which
  // selects the vDSO.
  const LoadedModule* load(const Module& module, uint64_t base, uint64_t length);

  // The file itself, as open_module(); that of a label, the vdso and saved symbols is absent.
  pi::Result<pi::UniqueFd> open(const Module& module) const;

  // All results of load(), also for files that were not found, sorted by path, build-id and inode.
  std::vector<SavedModule> loaded() const;

 private:
  const LoadedModule* load_vdso(const Module& module, uint64_t base, uint64_t length);
  LoadedModule load_file(const ModuleRequest& request);
  void describe(const LoadedModule& module);

  Interner& interner_;
  Notes& notes_;
  std::vector<std::string> search_;
  Debuginfod debuginfod_;
  ReadFiles files_;
  std::map<std::pair<std::string, uint64_t>, std::string> build_ids_;  // by path and inode
  std::map<std::pair<const char*, uint64_t>, std::unique_ptr<Module>> modules_;
  std::unordered_map<const char*, size_t> inodes_;  // number of inodes with each name
  // By name and the inode that the file must have; 0: any.
  std::map<std::pair<const char*, uint64_t>, std::unique_ptr<LoadedModule>> loaded_;
  std::unique_ptr<LoadedModule> vdso_;
  std::optional<SavedModules> saved_;  // if set, it replaces files
  bool validate_ = true;
};

}  // namespace a2n

#endif  // A2N_MODULES_H
