// SPDX-License-Identifier: MIT
// Finds a traced module among saved ones, and refuses what is not the one traced.
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

  // What was saved for this very request; else what has the traced build-id, whatever its path;
  // else, where the trace tells no build-id, what has that path. Its notes are added to notes. Not
  // usable when there is none; a note then says why.
  SavedModule get(const ModuleRequest& request, Notes& notes) const;

  // The vdso that was saved, or null.
  const SavedModule* vdso() const;

 private:
  const SavedModule* find(const ModuleRequest& request, Notes& notes) const;
  const SavedModule* usable_at(const std::string& path) const;

  std::vector<SavedModule> modules_;
  std::unordered_multimap<std::string_view, size_t> by_path_;
  std::unordered_map<std::string_view, size_t> by_build_id_;  // usable ones
};

}  // namespace a2n

#endif  // A2N_SAVED_MODULES_H
