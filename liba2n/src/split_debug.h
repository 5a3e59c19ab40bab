// SPDX-License-Identifier: MIT
// Finds the debug information of a file that is in other files: split units (.dwo, .dwp) and the
// supplement that dwz makes.
#ifndef A2N_SPLIT_DEBUG_H
#define A2N_SPLIT_DEBUG_H

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "dwarf_sections.h"
#include "elf_file.h"

namespace a2n {

// Where other files are looked for.
struct DebugPlaces {
  std::vector<std::string> beside;  // the module's file and its debug file; empty: nowhere at all
  std::vector<std::string> search;  // directories
};

// A file that is kept open with its sections.
struct DebugPart {
  ElfFile file;
  DwarfSections sections;
};

// Opens regular files only, each once, and uses only what has the id that was asked for, once: the
// names and ids come from files that another user may have written.
class SplitDebug {
 public:
  explicit SplitDebug(const DebugPlaces& places) : places_(places) {}

  // The sections that hold the split unit of that id; they stay until the next call. name: of its
  // .dwo file, directory: of its compilation.
  std::optional<DwarfSections> find(uint64_t id, std::string_view name, std::string_view directory);

  // The supplement that the file names, or null.
  std::unique_ptr<DebugPart> supplement(const DwarfSections& sections);

  uint64_t unpacked() const { return unpacked_; }  // bytes of all that was opened

  // What was not found: a sentence for each kind, without the module's name.
  std::vector<std::string> missing() const;

 private:
  std::nullopt_t not_found(std::string_view name, const std::string& why);
  void open_packages();
  bool take(const std::string& path, uint64_t id);
  std::unique_ptr<DebugPart> open_part(const std::string& path, DwarfPart which);
  std::vector<std::string> split_files(std::string_view name, std::string_view directory) const;

  const DebugPlaces& places_;
  bool packages_opened_ = false;
  std::vector<std::unique_ptr<DebugPart>> packages_;
  std::unique_ptr<DebugPart> current_;              // a .dwo file
  std::set<std::pair<uint64_t, uint64_t>> opened_;  // devices and inodes
  std::unordered_set<uint64_t> used_;               // ids
  uint64_t unpacked_ = 0;
  size_t asked_ = 0;
  size_t missing_units_ = 0;
  std::string missing_file_;  // the first one
  std::string missing_why_;
  std::string why_;  // the file that was tried first is not used
  std::string missing_supplement_;
};

}  // namespace a2n

#endif  // A2N_SPLIT_DEBUG_H
