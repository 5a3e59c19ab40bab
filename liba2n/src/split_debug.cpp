// SPDX-License-Identifier: MIT
// Finds the debug information of a file that is in other files.
#include "split_debug.h"

#include <limits.h>
#include <pi/files.h>
#include <pi/hex.h>

#include <algorithm>
#include <span>
#include <utility>

#include "debug_search.h"
#include "dwarf_package.h"
#include "dwarf_units.h"

namespace a2n {
namespace {

std::string_view directory_with_slash(std::string_view path) {
  return path.substr(0, path.rfind('/') + 1);  // npos + 1 is 0
}

// Whether one of the file's units is the split unit of that id; the first entries of all are read.
bool has_split_unit(const DwarfSections& sections, uint64_t id) {
  DwarfUnits units(sections);
  uint64_t at = 0;
  while (const auto unit = units.unit(at, at))
    if (unit->kind == DwarfUnitKind::split && unit->split_id == id) return true;
  return false;
}

}  // namespace

std::optional<DwarfSections> SplitDebug::find(uint64_t id, std::string_view name,
                                              std::string_view directory) {
  ++asked_;
  // Compilers give it to one unit, but an object file may be linked twice.
  if (!used_.insert(id).second) return not_found(name, "another unit has the same id");
  open_packages();
  for (const auto& package : packages_)
    if (auto sections = unit_in_package(package->sections, id)) return sections;
  if (current_ && has_split_unit(current_->sections, id)) return current_->sections;
  why_.clear();
  for (const std::string& path : split_files(name, directory))
    if (take(path, id)) return current_->sections;
  return not_found(name, why_);
}

std::nullopt_t SplitDebug::not_found(std::string_view name, const std::string& why) {
  if (missing_units_++ == 0) {
    missing_file_ = name.substr(0, PATH_MAX);
    missing_why_ = why;
  }
  return std::nullopt;
}

std::unique_ptr<DebugPart> SplitDebug::open_part(const std::string& path, DwarfPart which) {
  const auto refuse = [this](const std::string& why) {
    if (why_.empty()) why_ = why;
    return std::unique_ptr<DebugPart>();
  };
  auto opened = pi::open_regular(path);
  if (!opened) return refuse(path + ": " + opened.error().message);
  if (!opened_.emplace(opened->status.st_dev, opened->status.st_ino).second)
    return refuse(path + ": it is another unit's");
  auto file = ElfFile::from_fd(std::move(opened->fd), path, ElfUse::debug_part);
  if (!file) return refuse(file.error().message);
  const auto sections = read_dwarf_sections(*file, which);
  if (!sections) return refuse(sections.error().message);
  unpacked_ += sections->size;
  return std::make_unique<DebugPart>(DebugPart{std::move(*file), *sections});
}

// Whether a .dwo file is the one of the unit; then it is the current one.
bool SplitDebug::take(const std::string& path, uint64_t id) {
  auto part = open_part(path, DwarfPart::split);
  if (!part) return false;
  if (!has_split_unit(part->sections, id)) {
    why_ = path + ": it is of another build";
    return false;
  }
  current_ = std::move(part);
  return true;
}

std::vector<std::string> SplitDebug::split_files(std::string_view name,
                                                 std::string_view directory) const {
  std::vector<std::string> files;
  if (name.empty() || name.size() + directory.size() >= PATH_MAX || places_.beside.empty())
    return files;
  const std::string file(name);
  const std::string last(name.substr(directory_with_slash(name).size()));
  const bool absolute = name.starts_with('/');
  if (absolute) files.push_back(file);
  if (!absolute && directory.starts_with('/')) files.push_back(std::string(directory) + "/" + file);
  for (const std::string& module : places_.beside) {
    const std::string home(directory_with_slash(module));
    if (!absolute) files.push_back(home + file);
    if (!absolute && !directory.empty() && !directory.starts_with('/'))
      files.push_back(home + std::string(directory) + "/" + file);
    if (last != name) files.push_back(home + last);
  }
  for (const std::string& found : module_files(places_.search, name)) files.push_back(found);
  return files;
}

void SplitDebug::open_packages() {
  if (std::exchange(packages_opened_, true)) return;
  std::vector<std::string> files;
  for (const std::string& module : places_.beside) {
    files.push_back(module + ".dwp");
    for (const std::string& found : module_files(places_.search, module + ".dwp"))
      files.push_back(found);
  }
  for (const std::string& path : files)
    if (auto part = open_part(path, DwarfPart::split)) packages_.push_back(std::move(part));
}

std::unique_ptr<DebugPart> SplitDebug::supplement(const DwarfSections& sections) {
  if (sections.supplement.empty()) return nullptr;
  const std::string_view name = dwarf_text(sections.supplement, 0);
  const std::string_view id =
      sections.supplement.substr(std::min(name.size() + 1, sections.supplement.size()));
  if (name.empty() || id.empty() || id.size() > 64) return nullptr;
  const std::string hex = pi::to_hex(std::as_bytes(std::span(id)));
  std::vector<std::string> files;
  if (!places_.beside.empty()) files = build_id_files(places_.search, hex);
  if (name.starts_with('/')) files.emplace_back(name);
  for (const std::string& module : places_.beside)
    if (!name.starts_with('/'))
      files.push_back(std::string(directory_with_slash(module)) + std::string(name));
  for (const std::string& file : module_files(places_.search, name)) files.push_back(file);
  for (const std::string& path : files) {
    auto part = open_part(path, DwarfPart::whole);
    if (part && part->file.layout().build_id == hex) return part;
  }
  missing_supplement_ = std::string(name) + " (build-id " + hex + ")";
  return nullptr;
}

std::vector<std::string> SplitDebug::missing() const {
  std::vector<std::string> sentences;
  if (missing_units_ != 0)
    sentences.push_back(
        "of its debug information " + std::to_string(missing_units_) + " of " +
        std::to_string(asked_) + " .dwo files cannot be used, the first is " + missing_file_ +
        (missing_why_.empty() ? "" : " (" + missing_why_ + ")") +
        "; functions that were inlined there are not shown (they would be with the files of that "
        "build where they were made or in the symbol search path, or with a package of them, " +
        "NAME.dwp, beside it)");
  if (!missing_supplement_.empty())
    sentences.push_back("its debug information refers to " + missing_supplement_ +
                        ", which is not there; some inlined functions have no names");
  return sentences;
}

}  // namespace a2n
