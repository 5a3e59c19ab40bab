// SPDX-License-Identifier: MIT
// The traced modules, each file loaded once for all processes, when an address first falls into it.
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

// A path and, where it is known, the inode that was mapped under it.
struct Module {
  const char* name;
  uint64_t inode;
  ModuleKind kind;
  std::vector<ModulePlace> places;  // some: of the first mappings and of the newest
  size_t mapped = 0;                // how often

  void add_place(const ModulePlace& place);
};

// A file once it was looked for, found or not. The content never moves.
using LoadedModule = SavedModule;

class Modules {
 public:
  Modules(Interner& interner, Notes& notes)
      : interner_(interner), notes_(notes), debuginfod_(notes) {}

  void set_search_path(std::string_view path);
  // inode 0: of every file of that path that nothing else is told of. False for what is no
  // build-id.
  bool set_build_id(const char* path, uint64_t inode, std::string_view build_id);
  std::optional<std::string> build_id(const Module& module) const;

  // Where debug files that are not on this machine come from.
  Debuginfod& debuginfod() { return debuginfod_; }

  // From now on symbols come from these, and files are not looked at. To be called before get().
  void set_saved(std::vector<SavedModule> modules);
  // False: files are used although they are not shown to be the traced ones; a note says so.
  void set_validate(bool on) { validate_ = on; }

  bool empty() const { return modules_.empty(); }
  Module* get(const char* name, uint32_t stamp, uint64_t inode);

  // The file's content, or null when there is none to use. A vdso's mapping tells which it is.
  const LoadedModule* load(const Module& module, uint64_t base, uint64_t length);

  // All that was loaded, found or not, by path, build-id and inode.
  std::vector<SavedModule> loaded() const;

 private:
  const LoadedModule* load_vdso(const Module& module, uint64_t base, uint64_t length);
  LoadedModule load_file(const ModuleRequest& request);
  void describe(const LoadedModule& module);

  Interner& interner_;
  Notes& notes_;
  std::vector<std::string> search_;
  Debuginfod debuginfod_;
  std::map<std::pair<std::string, uint64_t>, std::string> build_ids_;  // by path and inode
  std::map<std::pair<const char*, uint64_t>, std::unique_ptr<Module>> modules_;
  std::unordered_map<const char*, size_t> inodes_;  // by name: how many inodes were seen
  // By name and the inode the file must have, 0 where it does not matter.
  std::map<std::pair<const char*, uint64_t>, std::unique_ptr<LoadedModule>> loaded_;
  std::unique_ptr<LoadedModule> vdso_;
  std::optional<SavedModules> saved_;  // instead of files
  bool validate_ = true;
};

}  // namespace a2n

#endif  // A2N_MODULES_H
