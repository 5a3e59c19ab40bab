// SPDX-License-Identifier: MIT
// Finds the saved symbols of a traced module, and rejects those of other files.
#include "saved_modules.h"

#include <utility>

#include "elf/build_id.h"
#include "elf/vdso.h"

namespace a2n {

SavedModules::SavedModules(std::vector<SavedModule> modules) : modules_(std::move(modules)) {
  for (size_t i = 0; i < modules_.size(); ++i) {
    const SavedModule& module = modules_[i];
    by_path_.emplace(module.path, i);
    if (module.content->usable && module.build_id && identifies(*module.build_id))
      by_build_id_.emplace(*module.build_id, i);
  }
}

SavedModule SavedModules::get(const ModuleRequest& request, Notes& notes) const {
  if (const SavedModule* found = find(request, notes)) {
    for (const std::string& note : found->notes) notes.add(note);
    return *found;
  }
  return {request.path, request.build_id, request.inode, 0, {}, std::make_shared<ModuleSymbols>()};
}

const SavedModule* SavedModules::vdso() const {
  const auto found = by_path_.find(vdso_name);
  return found == by_path_.end() ? nullptr : &modules_[found->second];
}

const SavedModule* SavedModules::find(const ModuleRequest& request, Notes& notes) const {
  const auto [begin, end] = by_path_.equal_range(request.path);
  for (auto at = begin; at != end; ++at) {
    const SavedModule& module = modules_[at->second];
    if (module.build_id == request.build_id && module.inode == request.inode) return &module;
  }
  if (request.build_id && identifies(*request.build_id)) {
    const auto same = by_build_id_.find(*request.build_id);
    if (same != by_build_id_.end()) return &modules_[same->second];
  }
  const SavedModule* other = usable_at(request.path);
  if (!other) {
    notes.add(request.path + ": not among the saved symbols");
    return nullptr;
  }
  const std::string& id = other->build_id ? *other->build_id : std::string();
  const bool proven = request.inode == 0 && (!request.build_id || *request.build_id == id);
  if (proven) return other;
  const std::string difference =
      request.path + ": saved were the symbols of the file with build-id " +
      (id.empty() ? "none" : id) + ", traced was " +
      (!request.build_id || is_unknown(*request.build_id) ? "an unknown one"
       : request.build_id->empty()                        ? "a file with none"
                                                          : *request.build_id);
  if (request.validate) {
    notes.add(difference + "; symbols not used");
    return nullptr;
  }
  notes.add(difference + "; used without validation, its names may be wrong");
  return other;
}

const SavedModule* SavedModules::usable_at(const std::string& path) const {
  const auto [begin, end] = by_path_.equal_range(path);
  for (auto at = begin; at != end; ++at)
    if (modules_[at->second].content->usable) return &modules_[at->second];
  return nullptr;
}

}  // namespace a2n
