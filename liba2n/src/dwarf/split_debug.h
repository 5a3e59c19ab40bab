// SPDX-License-Identifier: MIT
// Finds the debug information of a file that is in other files: split units (.dwo, .dwp) and the
// supplement that dwz makes.
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

// Where other files are looked for.
struct DebugPlaces {
  std::vector<std::string> beside;  // the module's file and its debug file; empty: nowhere at all
  std::vector<std::string> search;  // directories
  // Returns the path of a file with this build-id that a server sent, "" for none; may be null.
  std::function<std::string(const std::string& build_id)> download = {};
};

// A file that is kept open with its sections.
struct DebugPart {
  ElfFile file;
  DwarfSections sections;
};

// A unit whose other half, the split unit of the same id, is in another file.
struct Skeleton {
  uint64_t id;
  uint64_t offset;             // of the unit
  std::string_view name;       // of the .dwo file
  std::string_view directory;  // of the compilation
  bool has_entries;            // itself, of inlined functions
};

struct SplitUnit {
  DwarfUnits& units;
  DwarfUnit& unit;
};

// Opens regular files only, each once, and uses only what has an id that is asked for, once: the
// names and ids come from files that another user may have written. What is used of a file adds the
// file's bytes to those that the work's budget goes by.
class SplitDebug {
 public:
  SplitDebug(const DebugPlaces& places, DwarfWork& work) : places_(places), work_(work) {}

  // Calls use once for each skeleton, with its split unit or with null where there is none. ranges:
  // .debug_ranges, which split units of DWARF 4 share with their skeletons. The units of a file are
  // used one after the other. Ends when use returns false and when the work is past its budget.
  using Use = std::function<bool(const Skeleton&, const SplitUnit*)>;
  void read(const std::vector<Skeleton>& skeletons, std::string_view ranges, const Use& use);

  // The supplement that the file names, or null.
  std::unique_ptr<DebugPart> supplement(const DwarfSections& sections);

  // What was not found: a sentence for each kind, without the module's name.
  std::vector<std::string> missing() const;

 private:
  struct Search;

  void open_packages();
  // False when nothing more is to be read.
  bool read_package(const DebugPart& package, Search& search);
  bool read_files(size_t skeleton, Search& search);
  bool read_file(const std::string& path, Search& search);
  void not_found(const Skeleton& skeleton);
  std::unique_ptr<DebugPart> open_part(const std::string& path, DwarfPart which,
                                       const std::string& build_id = {});
  std::vector<std::string> split_files(std::string_view name, std::string_view directory) const;

  const DebugPlaces& places_;
  DwarfWork& work_;
  std::vector<std::unique_ptr<DebugPart>> packages_;
  std::set<std::pair<uint64_t, uint64_t>> opened_;  // devices and inodes
  uint64_t refused_ = 0;                            // bytes of files that were read in vain
  size_t asked_units_ = 0;
  size_t missing_units_ = 0;
  std::string missing_file_;  // the first one
  std::string missing_why_;
  bool described_ = false;  // functions of units that were not found, by their skeletons
  std::string why_;         // the file that was tried first is not used
  std::string missing_supplement_;
};

}  // namespace a2n

#endif  // A2N_SPLIT_DEBUG_H
