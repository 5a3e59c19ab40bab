// SPDX-License-Identifier: MIT
// Reads source lines and inlined functions from a file's DWARF.
#include "dwarf_index.h"

#include <dwarf.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/budgets.h"
#include "dwarf_units.h"
#include "dwarf_work.h"
#include "line_tables.h"

namespace a2n {
namespace {

constexpr int max_chain_length = 16;  // references followed from an entry to find its name

// Address ranges of code, sorted and disjoint.
class CodeRanges {
 public:
  explicit CodeRanges(std::vector<Range> ranges) {
    std::sort(ranges.begin(), ranges.end(),
              [](const Range& a, const Range& b) { return a.begin < b.begin; });
    for (const Range& range : ranges) {
      if (ranges_.empty() || ranges_.back().end < range.begin)
        ranges_.push_back(range);
      else
        ranges_.back().end = std::max(ranges_.back().end, range.end);
    }
  }
  bool contains(uint64_t address) const {
    const auto after =
        std::upper_bound(ranges_.begin(), ranges_.end(), address,
                         [](uint64_t value, const Range& range) { return value < range.begin; });
    return after != ranges_.begin() && std::prev(after)->contains(address);
  }

 private:
  std::vector<Range> ranges_;
};

// The file names of a line table; each is built on first use.
class SourceFiles {
 public:
  SourceFiles(LineTable& table, SourceIndexBuilder& builder, DwarfUnits& units)
      : table_(table), builder_(builder), units_(units) {}

  LineTable& table() { return table_; }

  uint32_t text_of(uint64_t number) {
    if (!table_.has_file(number)) return 0;
    if (number >= texts_.size()) texts_.resize(number + 1, unused);
    if (texts_[number] != unused) return texts_[number];
    const std::string name = table_.file(number);
    units_.work().count(name.size());
    return texts_[number] = builder_.text(name);
  }

 private:
  static constexpr uint32_t unused = UINT32_MAX;  // no offset of a text: see max_texts

  LineTable& table_;
  SourceIndexBuilder& builder_;
  DwarfUnits& units_;
  std::vector<uint32_t> texts_;  // by the file's number
};

class DwarfReader {
 public:
  DwarfReader(const ElfFile& file, const DwarfSections& sections, const DebugSearchPaths& paths)
      : sections_(sections), code_(file.layout().code()), split_(paths, work_) {
    work_.allow(sections.size);
    supplement_file_ = split_.supplement(sections);
    if (supplement_file_) supplement_.emplace(supplement_file_->sections, work_);
    units_.emplace(sections, work_, supplement_ ? &*supplement_ : nullptr);
  }

  void read() {
    uint64_t at = 0;
    while (!excess()) {
      const auto unit = units_->unit(at, at);
      if (!unit) break;
      // Partial units contain no code.
      const bool code = unit->kind == DwarfUnitKind::code && unit->root.tag == DW_TAG_compile_unit;
      if (code || unit->kind == DwarfUnitKind::skeleton) read(*unit);
    }
    if (excess()) return;
    split_.read(skeletons_, sections_.ranges,
                [this](const Skeleton& skeleton, const SplitUnit* split) {
                  split_unit(skeleton, split);
                  return !excess();
                });
  }

  // The exceeded budget, as a part of a sentence; "" if none is exceeded.
  std::string exceeded_budget() const {
    if (work_.excess()) return "what its entries share is read too often";
    if (!excess()) return {};
    return "lines, inlined functions and their ranges take more than " +
           std::to_string(max_memory()) + " bytes";
  }

  DwarfIndex build() { return {builder_.build(), split_.missing()}; }

 private:
  // The enclosing scope of an entry: the innermost inlined function, the number of nested inlined
  // functions, and whether the linker discarded the function.
  struct Level {
    uint32_t parent = SourceIndexBuilder::none;
    uint32_t inlined = 0;
    bool discarded = false;
  };

  uint64_t max_memory() const { return budgets::source_index.of(work_.size()); }
  uint64_t memory() const {
    constexpr uint64_t node = 64;  // bytes of a map node, with the allocator's overhead
    return builder_.used() + node * (names_.size() + tables_.size() + skeletons_.size()) +
           (skeletons_.capacity() + skeletons_.size()) * sizeof(Skeleton);
  }
  // Called for each entry, most of which add little: computes the memory only after some elements
  // were added, or removed (the difference is unsigned).
  bool excess() const {
    const uint64_t elements =
        builder_.elements() + names_.size() + tables_.size() + skeletons_.size();
    constexpr uint64_t few = 64;
    if (elements - checked_elements_ >= few) {
      checked_elements_ = elements;
      too_large_ = memory() > max_memory();
    }
    return too_long_ || too_large_ || work_.excess();
  }

  std::optional<LineTable> line_table(const DwarfUnit& unit, std::string_view directory) {
    const DwarfValue offset = unit.root.get(DwarfAttribute::line_table);
    if (!offset) return std::nullopt;
    uint64_t bytes_read = 0;
    auto table = LineTable::read(sections_, {offset.number, directory, unit.format.address_size},
                                 work_.left(), bytes_read);
    work_.count(bytes_read);
    return table;
  }

  void read(const DwarfUnit& unit) {
    const std::string_view directory = units_->text(unit, unit.root.get(DwarfAttribute::directory));
    auto table = line_table(unit, directory);
    std::optional<SourceFiles> files;
    if (table) {
      files.emplace(*table, builder_, *units_);
      // Units may share a table.
      if (tables_.insert(unit.root.get(DwarfAttribute::line_table).number).second) rows(*files);
    }
    if (unit.kind == DwarfUnitKind::code) {
      entries(*units_, unit, files ? &*files : nullptr);
      return;
    }
    const DwarfValue name = unit.root.get(DwarfAttribute::split_name);
    skeletons_.push_back(
        {unit.split_id, unit.begin, units_->text(unit, name), directory, unit.root.children});
  }

  void rows(SourceFiles& files) {
    const uint64_t left = max_memory() - std::min(memory(), max_memory());
    // While the row vectors grow, up to three times the rows are in memory.
    const uint64_t max_rows = left / (3 * (sizeof(LineRow) + sizeof(SourceRow)));
    const auto use = [&](const std::vector<LineRow>& rows) {
      // The linker relocates the line sequences of discarded functions to 0 or another address
      // outside the code.
      if (!code_.contains(rows.front().address)) return !excess();
      for (const LineRow& row : rows) {
        if (work_.excess()) return false;  // each row may name another file, with a long directory
        const bool end = &row == &rows.back();
        builder_.add_row(row.address, end ? 0 : files.text_of(row.file), row.line);
      }
      return !excess();
    };
    too_long_ = !files.table().for_each_sequence(max_rows, use);
  }

  // Reads the entries of a split unit or, if it was not found, those of its skeleton. File numbers
  // refer to the skeleton's line table.
  void split_unit(const Skeleton& skeleton, const SplitUnit* split) {
    uint64_t next = 0;
    const auto unit = units_->unit(skeleton.offset, next);
    if (!unit) return;
    if (!split && !unit->root.children) return;
    auto table = line_table(*unit, skeleton.directory);
    std::optional<SourceFiles> files;
    if (table) files.emplace(*table, builder_, *units_);
    if (split) {
      split->unit.low_pc = unit->low_pc;
      split->unit.ranges_base = unit->ranges_base;
      split->unit.addresses = unit->addresses;
    }
    names_.clear();  // its keys contain pointers to units, and these units are temporary
    entries(split ? split->units : *units_, split ? split->unit : *unit, files ? &*files : nullptr);
    names_.clear();
  }

  // Reads all entries of a unit in the order of the file.
  void entries(DwarfUnits& units, const DwarfUnit& unit, SourceFiles* files) {
    if (!unit.root.children) return;
    std::vector<Level> levels(1);
    DwarfEntry entry;
    for (uint64_t at = unit.root.next; !levels.empty() && !excess(); at = entry.next) {
      if (!units.read(unit, at, entry)) return;
      if (entry.tag == 0) {
        levels.pop_back();
        continue;
      }
      Level level = levels.back();
      switch (entry.tag) {
        case DW_TAG_inlined_subroutine:
          level = inlined_function(units, unit, entry, level, files);
          break;
        case DW_TAG_subprogram:
          level = function(units, unit, entry);
          break;
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
          break;
        default:
          if (skip_children(unit, entry)) continue;
      }
      if (entry.children) levels.push_back(level);
    }
  }

  // Skips an entry's children, which contain no code, if DW_AT_sibling is valid. Returns false if
  // the children must be read.
  static bool skip_children(const DwarfUnit& unit, DwarfEntry& entry) {
    if (!entry.children) return true;
    const DwarfValue sibling = entry.get(DwarfAttribute::sibling);
    const uint64_t next = unit.begin + std::min(sibling.number, unit.end - unit.begin);
    if (!sibling || sibling.form == DW_FORM_ref_addr || next < entry.next) return false;
    entry.next = next;
    return true;
  }

  // A function without code of its own may contain functions with code: lambdas, methods of local
  // classes.
  Level function(DwarfUnits& units, const DwarfUnit& unit, const DwarfEntry& entry) {
    const DwarfValue begin = entry.get(DwarfAttribute::low_pc);
    bool linked = true;
    if (entry.get(DwarfAttribute::ranges)) {
      units.for_each_range(unit, entry, [&](uint64_t range, uint64_t) {
        linked = code_.contains(range);
        return !linked;
      });
    } else if (begin) {
      const auto address = units.address(unit, begin);
      linked = address && code_.contains(*address);
    }
    return {SourceIndexBuilder::none, 0, !linked};
  }

  Level inlined_function(DwarfUnits& units, const DwarfUnit& unit, const DwarfEntry& entry,
                         const Level& outer, SourceFiles* files) {
    if (outer.discarded) return outer;
    uint32_t node = SourceIndexBuilder::none;
    units.for_each_range(unit, entry, [&](uint64_t begin, uint64_t end) {
      if (code_.contains(begin)) {
        if (node == SourceIndexBuilder::none)
          node =
              builder_.add_node(outer.parent, name_of(units, unit, entry), call_file(entry, files),
                                number(entry.get(DwarfAttribute::call_line)));
        builder_.add_range(begin, end, node, outer.inlined);
      }
      return !excess();
    });
    if (node == SourceIndexBuilder::none) return outer;
    return {node, outer.inlined + 1, false};
  }

  // The name of the inlined function; cached, since many call sites share it.
  uint32_t name_of(DwarfUnits& units, const DwarfUnit& unit, const DwarfEntry& entry) {
    const auto ref = units.reference(unit, entry.get(DwarfAttribute::origin));
    if (!ref) return builder_.text("??");
    const auto [known, added] = names_.try_emplace(std::pair(ref->units, ref->offset), 0);
    if (added) known->second = builder_.text(find_name(*ref));
    return known->second;
  }

  static std::string_view find_name(DwarfUnits::EntryRef ref) {
    std::string_view name = "??";
    bool named = false;
    DwarfEntry entry;
    for (int i = 0; i < max_chain_length; ++i) {
      const DwarfUnit* const unit = ref.units->unit_containing(ref.offset);
      if (!unit || !ref.units->read(*unit, ref.offset, entry)) break;
      ref.units->work().count(entry.next - ref.offset + 16);
      if (const DwarfValue value = entry.get(DwarfAttribute::linkage_name))
        if (const auto text = ref.units->text(*unit, value); !text.empty()) return text;
      if (const DwarfValue value = entry.get(DwarfAttribute::name); value && !named)
        if (const auto text = ref.units->text(*unit, value); !text.empty())
          name = text, named = true;
      DwarfValue further = entry.get(DwarfAttribute::origin);
      if (!further) further = entry.get(DwarfAttribute::specification);
      const auto next = ref.units->reference(*unit, further);
      if (!next) break;
      ref = *next;
    }
    return name;
  }

  static uint32_t call_file(const DwarfEntry& entry, SourceFiles* files) {
    const DwarfValue file = entry.get(DwarfAttribute::call_file);
    return file && files ? files->text_of(file.number) : 0;
  }
  static uint32_t number(const DwarfValue& value) {
    return value.number <= UINT32_MAX ? static_cast<uint32_t>(value.number) : 0;
  }

  const DwarfSections sections_;
  const CodeRanges code_;
  DwarfWork work_;
  SourceIndexBuilder builder_;
  SplitDebug split_;
  std::unique_ptr<DebugPart> supplement_file_;
  std::optional<DwarfUnits> supplement_;
  std::optional<DwarfUnits> units_;
  bool too_long_ = false;                  // a line sequence has too many rows
  mutable uint64_t checked_elements_ = 0;  // for which excess() has computed the memory
  mutable bool too_large_ = false;
  std::vector<Skeleton> skeletons_;                             // read after all other units
  std::set<uint64_t> tables_;                                   // offsets of the line tables read
  std::map<std::pair<DwarfUnits*, uint64_t>, uint32_t> names_;  // by the function's entry
};

}  // namespace

pi::Result<DwarfIndex> read_dwarf(const ElfFile& file, const DebugSearchPaths& paths) {
  const auto sections = read_dwarf_sections(file, DwarfPart::whole);
  if (!sections) return sections.error();
  DwarfReader reader(file, *sections, paths);
  reader.read();
  if (const std::string why = reader.exceeded_budget(); !why.empty())
    return pi::Error{EFBIG, file.name() + ": its debug information is not used: " + why};
  return reader.build();
}

}  // namespace a2n
