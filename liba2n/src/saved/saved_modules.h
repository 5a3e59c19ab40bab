// SPDX-License-Identifier: MIT
// Finds the saved symbols of a traced module, and rejects those of other files.
#ifndef A2N_SAVED_MODULES_H
#define A2N_SAVED_MODULES_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/notes.h"
#include "elf/module_loader.h"
#include "saved_symbols.h"

namespace a2n {

class SavedModules {
 public:
  explicit SavedModules(std::vector<SavedModule> modules);

  // Searches a module saved for the same path, build-id and inode; else one with the traced
  // build-id and any path; else, if the trace has no build-id, one with that path. Adds the saved
  // notes to notes. If there is none, the result is not usable, and a note has the reason.
  SavedModule get(const ModuleRequest& request, Notes& notes) const;

  // The saved vDSO, or null.
  const SavedModule* vdso() const;

 private:
  const SavedModule* find(const ModuleRequest& request, Notes& notes) const;
  const SavedModule* usable_at(const std::string& path) const;

  std::vector<SavedModule> modules_;
  std::unordered_multimap<std::string_view, size_t> by_path_;
  std::unordered_map<std::string_view, size_t> by_build_id_;  // usable modules only
};

}  // namespace a2n

#endif  // A2N_SAVED_MODULES_H
