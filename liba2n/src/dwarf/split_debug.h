// SPDX-License-Identifier: MIT
// Finds debug information of a file that is stored in other files: split units (.dwo, .dwp) and the
// supplement written by dwz.
#ifndef A2N_SPLIT_DEBUG_H
#define A2N_SPLIT_DEBUG_H

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dwarf_sections.h"
#include "dwarf_units.h"
#include "dwarf_work.h"
#include "elf/elf_file.h"

namespace a2n {

// Where debug files are searched.
struct DebugSearchPaths {
  // Paths of the module's file and its debug file: their directories are searched. Empty: no .dwo
  // and .dwp files are searched at all.
  std::vector<std::string> modules;
  std::vector<std::string> search;  // further directories
  // Returns the path of a file with this build-id that a server sent, "" for none; may be null.
  std::function<std::string(const std::string& build_id)> download = {};
};

// An open debug file with its sections.
struct DebugPart {
  ElfFile file;
  DwarfSections sections;
};

// A skeleton unit: the split unit with the same id is in another file.
struct Skeleton {
  uint64_t id;
  uint64_t offset;             // of the unit in .debug_info
  std::string_view name;       // DW_AT_dwo_name
  std::string_view directory;  // DW_AT_comp_dir
  bool has_entries;            // the skeleton itself describes inlined functions
};

struct SplitUnit {
  DwarfUnits& units;
  DwarfUnit& unit;
};

// Opens only regular files, each once, and uses only units with a requested id, each once: the
// names and ids come from files that another user may have written. The size of each file in use
// increases the budget of work.
class SplitDebug {
 public:
  SplitDebug(const DebugSearchPaths& paths, DwarfWork& work) : paths_(paths), work_(work) {}

  // Calls use once for each skeleton, with its split unit, or with null if it was not found.
  // ranges: .debug_ranges, which split units of DWARF 4 share with their skeletons. All units of a
  // file are used before the next file is opened. Stops when use returns false or the work exceeds
  // its budget.
  using Use = std::function<bool(const Skeleton&, const SplitUnit*)>;
  void read(const std::vector<Skeleton>& skeletons, std::string_view ranges, const Use& use);

  // Opens the supplement that the file's .gnu_debugaltlink names; null if it was not found.
  std::unique_ptr<DebugPart> supplement(const DwarfSections& sections);

  // The files that were not found: one sentence each for .dwo files and for the supplement, without
  // the module's name.
  std::vector<std::string> missing() const;

 private:
  struct Search;

  void open_packages();
  // These return false when reading must stop.
  bool read_package(const DebugPart& package, Search& search);
  bool read_files(size_t skeleton, Search& search);
  bool read_file(const std::string& path, Search& search);
  void not_found(const Skeleton& skeleton);
  std::unique_ptr<DebugPart> open_part(const std::string& path, DwarfPart which,
                                       const std::string& build_id = {});
  std::vector<std::string> split_files(std::string_view name, std::string_view directory) const;

  const DebugSearchPaths& paths_;
  DwarfWork& work_;
  std::vector<std::unique_ptr<DebugPart>> packages_;
  std::set<std::pair<uint64_t, uint64_t>> opened_;  // devices and inodes
  uint64_t unused_bytes_ = 0;                       // bytes read from files that are not used
  size_t asked_units_ = 0;
  size_t missing_units_ = 0;
  std::string missing_file_;  // the first missing file
  std::string missing_reason_;
  bool skeletons_have_entries_ = false;  // skeletons of missing units describe inlined functions
  std::string reason_;  // why the first candidate file of the current unit is not used
  std::string missing_supplement_;
};

}  // namespace a2n

#endif  // A2N_SPLIT_DEBUG_H
