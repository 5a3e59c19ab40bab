// SPDX-License-Identifier: MIT
// The traced modules, each file loaded once for all processes, when an address first falls into it.
#include "modules.h"

#include <algorithm>

#include "a2n.h"
#include "debug_search.h"
#include "module_loader.h"
#include "vdso.h"

namespace a2n {
namespace {

ModuleKind kind_of(std::string_view name, uint32_t stamp) {
  if (stamp == A2N_STAMP_VDSO || name == "[vdso]") return ModuleKind::vdso;
  if (stamp == A2N_STAMP_VSYSCALL64 || name == "[vsyscall]") return ModuleKind::vsyscall_64;
  if (stamp == A2N_STAMP_VSYSCALL32) return ModuleKind::vsyscall_32;
  // "//anon", "[heap]", "anon_inode:[perf]": no files.
  if (stamp == A2N_STAMP_ANON || name.starts_with("//") || name.starts_with('[') ||
      name.starts_with("anon_inode:")) {
    return ModuleKind::label;
  }
  return ModuleKind::file;
}

bool is_build_id(std::string_view text) {
  if (text.empty() || text == "?") return true;
  return text.size() % 2 == 0 && text.size() <= 128 &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
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
  if (found == build_ids_.end()) return std::nullopt;
  return found->second;
}

// Those that live longest are likely among the first and the newest.
void Module::add_place(const ModulePlace& place) {
  constexpr size_t first = 4, newest = 8;
  if (places.size() < first + newest)
    places.push_back(place);
  else
    places[first + mapped % newest] = place;
  ++mapped;
}

Module* Modules::get(const char* name, uint32_t stamp, uint64_t inode) {
  name = interner_.add(name);
  auto& module = modules_[{name, inode}];
  if (!module) {
    module = std::make_unique<Module>(Module{name, inode, kind_of(name, stamp), {}});
    if (inode != 0) ++inodes_[name];
  }
  return module.get();
}

LoadedModule* Modules::load(const Module& module, uint64_t base, uint64_t length) {
  if (module.kind == ModuleKind::vdso) return load_vdso(module, base, length);
  if (module.kind != ModuleKind::file) return nullptr;
  const auto seen = inodes_.find(module.name);
  const uint64_t inode = seen != inodes_.end() && seen->second > 1 ? module.inode : 0;
  auto& loaded = loaded_[{module.name, inode}];
  if (!loaded) {
    ModuleRequest request{module.name, build_id(module), inode,
                          search_,     module.inode,     module.places};
    loaded = std::make_unique<LoadedModule>(LoadedModule{load_module(request, notes_)});
  }
  return loaded->content.usable ? loaded.get() : nullptr;
}

LoadedModule* Modules::load_vdso(const Module& module, uint64_t base, uint64_t length) {
  constexpr uint64_t end_of_32_bits = uint64_t{1} << 32;
  if (base < end_of_32_bits) {
    notes_.add(std::string(module.name) +
               ": in a program of 32 bits it is another one, whose symbols are not known");
    return nullptr;
  }
  if (!vdso_) {
    Vdso own = read_own_vdso();
    vdso_ = std::make_unique<OwnVdso>(
        OwnVdso{{std::move(own.module)}, std::move(own.build_id), own.length});
  }
  const auto traced = build_id(module);
  const bool same = traced ? *traced == vdso_->build_id : length == vdso_->length;
  if (same && vdso_->module.content.usable) return &vdso_->module;
  notes_.add(std::string(module.name) +
             ": the traced kernel's is not this machine's; symbols not used (analyse on the traced "
             "machine, under the traced kernel)");
  return nullptr;
}

}  // namespace a2n
