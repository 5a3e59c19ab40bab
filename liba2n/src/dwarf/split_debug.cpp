// SPDX-License-Identifier: MIT
// Finds debug information of a file that is stored in other files.
#include "split_debug.h"

#include <limits.h>
#include <pi/files.h>
#include <pi/hex.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <span>
#include <utility>

#include "base/budgets.h"
#include "pi/dwarf_bytes.h"
#include "dwarf_package.h"
#include "elf/debug_search.h"

namespace a2n {
namespace {

std::string_view directory_with_slash(std::string_view path) {
  return path.substr(0, path.rfind('/') + 1);  // npos + 1 is 0
}

}  // namespace

// The state of a search for the split units of skeletons.
struct SplitDebug::Search {
  const std::vector<Skeleton>& skeletons;
  const std::string_view ranges;
  const Use& use;
  // The first skeleton of each id. An ordered map: hostile ids could collide in a hash table.
  std::map<uint64_t, size_t> by_id;
  std::vector<bool> found;

  bool is_first(size_t i) const { return by_id.at(skeletons[i].id) == i; }

  // Returns false when reading must stop.
  bool use_unit(size_t i, DwarfUnits& units, DwarfUnit& unit) {
    found[i] = true;
    const SplitUnit split{units, unit};
    return use(skeletons[i], &split);
  }
};

void SplitDebug::read(const std::vector<Skeleton>& skeletons, std::string_view ranges,
                      const Use& use) {
  if (skeletons.empty()) return;
  Search search{skeletons, ranges, use, {}, std::vector<bool>(skeletons.size())};
  for (size_t i = 0; i < skeletons.size(); ++i) search.by_id.try_emplace(skeletons[i].id, i);
  asked_units_ = skeletons.size();
  open_packages();
  for (const auto& package : packages_)
    if (!read_package(*package, search)) return;
  for (size_t i = 0; i < skeletons.size(); ++i)
    if (!search.found[i] && !read_files(i, search)) return;
}

bool SplitDebug::read_package(const DebugPart& package, Search& search) {
  bool used = false;
  for (size_t i = 0; i < search.skeletons.size(); ++i) {
    if (search.found[i] || !search.is_first(i)) continue;
    const uint64_t id = search.skeletons[i].id;
    auto sections = unit_in_package(package.sections, id, work_);
    if (!sections) continue;
    if (!std::exchange(used, true)) work_.allow(package.sections.size);
    sections->ranges = search.ranges;
    DwarfUnits units(*sections, work_);
    uint64_t offset = 0;
    while (auto unit = units.unit(offset, offset)) {
      if (unit->kind != DwarfUnitKind::split || unit->split_id != id) continue;
      if (!search.use_unit(i, units, *unit)) return false;
      break;
    }
    if (work_.excess()) return false;
  }
  return true;
}

bool SplitDebug::read_files(size_t i, Search& search) {
  const Skeleton& skeleton = search.skeletons[i];
  reason_.clear();
  if (search.is_first(i)) {
    for (const std::string& path : split_files(skeleton.name, skeleton.directory)) {
      if (!read_file(path, search)) return false;
      if (search.found[i]) return true;
    }
  } else {
    reason_ = "another unit has the same id";  // compilers give each unit a different id
  }
  not_found(skeleton);
  return search.use(skeleton, nullptr);
}

// Uses all requested units of a .dwo file. If it has none, its work is counted separately: files of
// other builds must neither increase the module's budget nor consume it.
bool SplitDebug::read_file(const std::string& path, Search& search) {
  const auto part = open_part(path, DwarfPart::split);
  if (!part) return true;
  part->sections.ranges = search.ranges;
  const DwarfWork before = work_;
  work_.allow(part->sections.size);
  DwarfUnits units(part->sections, work_);
  bool used = false;
  uint64_t offset = 0;
  while (auto unit = units.unit(offset, offset)) {
    if (unit->kind != DwarfUnitKind::split) continue;
    const auto wanted = search.by_id.find(unit->split_id);
    if (wanted == search.by_id.end() || search.found[wanted->second]) continue;
    used = true;
    if (!search.use_unit(wanted->second, units, *unit)) return false;
  }
  reason_ = path + ": it is of another build";
  if (used) return !work_.excess();
  unused_bytes_ += part->sections.size + work_.done() - before.done();
  work_ = before;
  return true;
}

void SplitDebug::not_found(const Skeleton& skeleton) {
  skeletons_have_entries_ = skeletons_have_entries_ || skeleton.has_entries;
  if (missing_units_++ != 0) return;
  missing_file_ = skeleton.name.substr(0, PATH_MAX);
  missing_reason_ = reason_;
}

std::unique_ptr<DebugPart> SplitDebug::open_part(const std::string& path, DwarfPart which,
                                                 const std::string& build_id) {
  const auto refuse = [this](const std::string& reason) {
    if (reason_.empty()) reason_ = reason;
    return std::unique_ptr<DebugPart>();
  };
  if (unused_bytes_ > budgets::debug_sections.of(work_.size()))
    return refuse("too much was read of files of other builds");
  auto opened = pi::open_regular(path);
  if (!opened) return refuse(path + ": " + opened.error().message);
  if (!opened_.emplace(opened->status.st_dev, opened->status.st_ino).second)
    return refuse(path + ": it has no such unit");
  auto file = ElfFile::from_fd(std::move(opened->fd), path, ElfUse::debug_part);
  if (!file) return refuse(file.error().message);
  if (!build_id.empty() && file->layout().build_id != build_id)
    return refuse(path + ": it is of another build");
  const auto sections = read_dwarf_sections(*file, which);
  if (!sections) {
    // Some sections may already have been uncompressed.
    if (sections.error().code == ENOTSUP)
      unused_bytes_ += budgets::debug_sections.of(file->stored());
    return refuse(sections.error().message);
  }
  return std::make_unique<DebugPart>(DebugPart{std::move(*file), *sections});
}

std::vector<std::string> SplitDebug::split_files(std::string_view name,
                                                 std::string_view directory) const {
  std::vector<std::string> files;
  if (name.empty() || name.size() + directory.size() >= PATH_MAX || paths_.modules.empty())
    return files;
  const std::string file(name);
  const std::string last(name.substr(directory_with_slash(name).size()));
  const bool absolute = name.starts_with('/');
  if (absolute) files.push_back(file);
  if (!absolute && directory.starts_with('/')) files.push_back(std::string(directory) + "/" + file);
  for (const std::string& module : paths_.modules) {
    const std::string home(directory_with_slash(module));
    if (!absolute) files.push_back(home + file);
    if (!absolute && !directory.empty() && !directory.starts_with('/'))
      files.push_back(home + std::string(directory) + "/" + file);
    if (last != name) files.push_back(home + last);
  }
  for (const std::string& found : module_files(paths_.search, name)) files.push_back(found);
  return files;
}

void SplitDebug::open_packages() {
  std::vector<std::string> files;
  for (const std::string& module : paths_.modules) {
    files.push_back(module + ".dwp");
    for (const std::string& found : module_files(paths_.search, module + ".dwp"))
      files.push_back(found);
  }
  for (const std::string& path : files)
    if (auto part = open_part(path, DwarfPart::split)) packages_.push_back(std::move(part));
}

std::unique_ptr<DebugPart> SplitDebug::supplement(const DwarfSections& sections) {
  if (sections.supplement.empty()) return nullptr;
  const std::string_view name = pi::dwarf_text(sections.supplement, 0);
  const std::string_view id =
      sections.supplement.substr(std::min(name.size() + 1, sections.supplement.size()));
  if (name.empty() || id.empty() || id.size() > 64) return nullptr;
  const std::string hex = pi::to_hex(std::as_bytes(std::span(id)));
  std::vector<std::string> files;
  if (!paths_.modules.empty()) files = build_id_files(paths_.search, hex);
  if (name.starts_with('/')) files.emplace_back(name);
  for (const std::string& module : paths_.modules)
    if (!name.starts_with('/'))
      files.push_back(std::string(directory_with_slash(module)) + std::string(name));
  for (const std::string& file : module_files(paths_.search, name)) files.push_back(file);
  for (const std::string& path : files) {
    if (auto part = open_part(path, DwarfPart::whole, hex)) {
      work_.allow(part->sections.size);
      return part;
    }
  }
  if (paths_.download) {
    const std::string path = paths_.download(hex);
    auto part = path.empty() ? nullptr : open_part(path, DwarfPart::whole, hex);
    if (part) {
      work_.allow(part->sections.size);
      return part;
    }
  }
  missing_supplement_ = std::string(name) + " (build-id " + hex + ")";
  return nullptr;
}

std::vector<std::string> SplitDebug::missing() const {
  std::vector<std::string> sentences;
  if (missing_units_ != 0)
    sentences.push_back(
        "of its debug information " + std::to_string(missing_units_) + " of " +
        std::to_string(asked_units_) + " .dwo files cannot be used, the first is " + missing_file_ +
        (missing_reason_.empty() ? "" : " (" + missing_reason_ + ")") +
        (skeletons_have_entries_
             ? "; of the functions that were inlined there only those are shown that the "
               "file itself describes (all would be with the files of that "
             : "; functions that were inlined there are not shown (they would be with the "
               "files of that ") +
        "build where they were made or in the symbol search path, or with a package of them, " +
        "NAME.dwp, next to it)");
  if (!missing_supplement_.empty())
    sentences.push_back("its debug information refers to " + missing_supplement_ +
                        ", which is not there; some inlined functions have no names");
  return sentences;
}

}  // namespace a2n
