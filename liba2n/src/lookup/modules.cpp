// SPDX-License-Identifier: MIT
// The traced modules. Each file is loaded once for all processes, by the first lookup in it.
#include "modules.h"

#include <algorithm>
#include <tuple>

#include "a2n_context.h"
#include "elf/build_id.h"
#include "elf/debug_search.h"
#include "elf/module_loader.h"
#include "elf/vdso.h"

namespace a2n {
namespace {

ModuleKind kind_of(std::string_view name, uint32_t stamp) {
  if (stamp == A2N_STAMP_VDSO || name == "[vdso]") return ModuleKind::vdso;
  if (stamp == A2N_STAMP_VSYSCALL64 || name == "[vsyscall]") return ModuleKind::vsyscall_64;
  if (stamp == A2N_STAMP_VSYSCALL32) return ModuleKind::vsyscall_32;
  // "//anon", "[heap]", "anon_inode:[perf]" are not files.
  if (stamp == A2N_STAMP_ANON || name.starts_with("//") || name.starts_with('[') ||
      name.starts_with("anon_inode:")) {
    return ModuleKind::label;
  }
  return ModuleKind::file;
}

}  // namespace

void Modules::set_search_path(std::string_view path) {
  search_ = split_search_path(path);
}

bool Modules::set_build_id(const char* path, uint64_t inode, std::string_view build_id) {
  if (!is_build_id(build_id)) return false;
  build_ids_[{path, inode}] = build_id;
  return true;
}

std::optional<std::string> Modules::build_id(const Module& module) const {
  auto found = build_ids_.find({module.name, module.inode});
  if (found == build_ids_.end()) found = build_ids_.find({module.name, 0});
  if (found != build_ids_.end()) return found->second;
  // A trace with build-ids lacks those that the recorder did not read. A user can cause that, for
  // example by mapping many files at once, and then replace a file.
  const bool known_for_others = !build_ids_.empty() && module.kind == ModuleKind::file;
  return known_for_others ? std::optional("?") : std::nullopt;
}

// Keep the first and the newest mappings: their processes most likely still run.
void Module::add_mapping(const ModuleMapping& mapping) {
  constexpr size_t first = 4, newest = 8;
  if (mappings.size() < first + newest)
    mappings.push_back(mapping);
  else
    mappings[first + mapped % newest] = mapping;
  ++mapped;
}

Module* Modules::get(const char* name, uint32_t stamp, uint64_t inode) {
  name = interner_.add(name);
  const auto found = modules_.find({name, inode});
  if (found != modules_.end()) return found->second.get();
  // Without memory an entry must not remain empty.
  auto module = std::make_unique<Module>(Module{name, inode, kind_of(name, stamp), {}});
  if (inode != 0) ++inodes_[name];
  return modules_.emplace(std::pair(name, inode), std::move(module)).first->second.get();
}

void Modules::set_saved(std::vector<SavedModule> modules) {
  saved_.emplace(std::move(modules));
}

const LoadedModule* Modules::load(const Module& module, uint64_t base, uint64_t length) {
  if (module.kind == ModuleKind::vdso) return load_vdso(module, base, length);
  if (module.kind != ModuleKind::file) return nullptr;
  const auto seen = inodes_.find(module.name);
  const uint64_t inode = seen != inodes_.end() && seen->second > 1 ? module.inode : 0;
  auto place = loaded_.find({module.name, inode});
  if (place == loaded_.end()) {
    const ModuleRequest request{module.name,  build_id(module), inode,     search_,
                                module.inode, module.mappings,  validate_, &debuginfod_};
    auto loaded = std::make_unique<LoadedModule>(load_file(request));
    for (const std::string& note : loaded->notes) notes_.add(note);
    describe(*loaded);
    place = loaded_.emplace(std::pair(module.name, inode), std::move(loaded)).first;
  }
  return place->second->content->usable ? place->second.get() : nullptr;
}

pi::Result<pi::UniqueFd> Modules::open(const Module& module) const {
  if (module.kind != ModuleKind::file || saved_)
    return pi::Error{ENOENT, std::string(module.name) + ": no file"};
  return open_module({module.name, build_id(module), 0, search_, module.inode, module.mappings,
                      validate_, nullptr});
}

// Adds an info note about the origin of a module's symbols.
void Modules::describe(const LoadedModule& module) {
  std::string text = module.path + ": " + std::to_string(module.content->symbols.size()) +
                     " symbols from " + (saved_ ? "saved ones" : "");
  for (const std::string& file : module.content->files)
    text += (&file == module.content->files.data() ? "" : " and ") + file;
  if (!module.content->usable) text = module.path + ": no file to take symbols from";
  const std::string id = module.build_id.value_or("");
  notes_.add(text + ", build-id " + (id.empty() ? "none" : id), A2N_MESSAGES_INFO);
}

LoadedModule Modules::load_file(const ModuleRequest& request) {
  Notes notes;
  notes.set_max_level(A2N_MESSAGES_INFO);
  LoadedModule loaded;
  if (saved_) {
    loaded = saved_->get(request, notes);
  } else {
    loaded.content = load_module(request, files_, notes);
    loaded.build_id = request.build_id;
    // The trace has no build-id: keep the file's own, so that saved symbols can be matched with a
    // later trace.
    if (!loaded.build_id && loaded.content->usable) loaded.build_id = loaded.content->build_id;
  }
  loaded.path = request.path;
  loaded.inode = request.inode;
  loaded.notes.clear();
  for (size_t i = 0; i < notes.size(); ++i)
    if (notes.level(i) == A2N_MESSAGES_INFO)
      notes_.add(notes.get(i), A2N_MESSAGES_INFO);
    else
      loaded.notes.emplace_back(notes.get(i));
  return loaded;
}

const LoadedModule* Modules::load_vdso(const Module& module, uint64_t base, uint64_t length) {
  constexpr uint64_t end_of_32_bits = uint64_t{1} << 32;
  if (base < end_of_32_bits) {
    notes_.add(std::string(module.name) +
               ": in a program of 32 bits it is another one, whose symbols are not known");
    return nullptr;
  }
  if (!vdso_) {
    auto vdso = std::make_unique<LoadedModule>();
    if (!saved_) {
      Vdso own = read_own_vdso();
      *vdso = {vdso_name, std::move(own.build_id),
               0,         own.length,
               {},        std::make_shared<ModuleSymbols>(std::move(own.module))};
    } else if (const SavedModule* saved = saved_->vdso()) {
      *vdso = *saved;
    } else {
      vdso->content = std::make_shared<ModuleSymbols>();
    }
    vdso_ = std::move(vdso);
  }
  const auto traced = build_id(module);
  const bool same = traced ? *traced == vdso_->build_id : length == vdso_->length;
  if (same && vdso_->content->usable) return vdso_.get();
  notes_.add(std::string(module.name) +
             ": the traced kernel's is not this machine's; symbols not used (analyse on the traced "
             "machine, under the traced kernel)");
  return nullptr;
}

std::vector<SavedModule> Modules::loaded() const {
  std::vector<SavedModule> all;
  if (vdso_ && vdso_->content->usable) all.push_back(*vdso_);
  for (const auto& [key, module] : loaded_) all.push_back(*module);
  const auto rank = [](const SavedModule& module) {
    return std::tie(module.path, module.build_id, module.inode);
  };
  std::sort(all.begin(), all.end(),
            [&rank](const SavedModule& a, const SavedModule& b) { return rank(a) < rank(b); });
  return all;
}

}  // namespace a2n
