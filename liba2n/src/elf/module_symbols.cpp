// SPDX-License-Identifier: MIT
// The segments, sections and symbols of one file.
#include "module_symbols.h"

#include <algorithm>

#include "base/last_at.h"
#include "elf_symbols.h"
#include "minidebuginfo.h"

namespace a2n {
namespace {

constexpr uint64_t page = 4096;
uint64_t page_down(uint64_t value) {
  return value & ~(page - 1);
}
uint64_t page_up(uint64_t value) {
  return value > UINT64_MAX - page ? page_down(UINT64_MAX) : page_down(value + page - 1);
}

// The segment that a mapping at a file offset belongs to. Of several, an executable one is
// preferred, then one that begins at the offset.
const Segment* segment_at(const std::vector<Segment>& segments, uint64_t offset) {
  const Segment* best = nullptr;
  int best_rank = 0;
  for (const Segment& segment : segments) {
    if (segment.file_size > UINT64_MAX - segment.offset) continue;
    const uint64_t begin = page_down(segment.offset);
    if (offset < begin || offset >= page_up(segment.offset + segment.file_size)) continue;
    const int rank = 1 + (segment.executable ? 2 : 0) + (begin == offset ? 1 : 0);
    if (rank > best_rank) {
      best = &segment;
      best_rank = rank;
    }
  }
  return best;
}

// The executable segment that a mapping of that length must belong to: the only one with that
// length, else the only one.
const Segment* segment_by_length(const std::vector<Segment>& segments, uint64_t length) {
  const Segment* fitting = nullptr;
  const Segment* any = nullptr;
  size_t fitting_count = 0;
  size_t count = 0;
  for (const Segment& segment : segments) {
    if (!segment.executable || segment.memory_size > UINT64_MAX - segment.vaddr) continue;
    if (segment.file_size > UINT64_MAX - segment.offset) continue;
    ++count;
    any = &segment;
    const uint64_t end = page_up(segment.vaddr + segment.memory_size);
    if (end - page_down(segment.vaddr) != page_up(length)) continue;
    ++fitting_count;
    fitting = &segment;
  }
  if (fitting_count == 1) return fitting;
  return count == 1 ? any : nullptr;
}

// Prelink changes a file's addresses after its debug file was created.
uint64_t debug_shift(const ElfLayout& mapped, const ElfLayout& debug) {
  if (mapped.segments.size() != debug.segments.size() || mapped.segments.empty()) return 0;
  return mapped.segments[0].vaddr - debug.segments[0].vaddr;
}

// Adds the symbols of a table, with shift added to their addresses; none of them on an error.
// Returns whether any were added.
bool add(const ElfFile& file, uint32_t section_type, uint64_t shift, SymbolTableBuilder& builder,
         std::vector<std::string>& refused) {
  const size_t before = builder.size();
  const auto any = read_symbols(file, section_type, [&](const ElfSymbol& symbol) {
    builder.add(symbol.value + shift, symbol.size, symbol.name, symbol.binding, symbol.function);
  });
  if (any) return *any;
  builder.truncate(before);
  refused.push_back(any.error().message);
  return false;
}

// The functions of the mapped file without a symbol, or with one that may belong to another
// function.
void add_functions(const ElfFile& mapped, ModuleSymbols& module) {
  auto functions = read_unwind_functions(mapped);
  if (!functions) {
    module.refused.push_back(functions.error().message);
    return;
  }
  std::erase_if(*functions, [&module](const FunctionRange& function) {
    const Symbol* symbol = module.symbols.find(function.start);
    const bool certain = symbol && !(module.exports_only && symbol->size_guessed);
    return certain && function.size <= symbol->size - (function.start - symbol->start);
  });
  functions->shrink_to_fit();  // most functions have symbols
  module.functions = std::move(*functions);
}

// Size of the executable segments, limited to the file's size: headers may claim more.
uint64_t code_bytes(const ElfFile& file) {
  uint64_t bytes = 0;
  for (const Segment& segment : file.layout().segments)
    if (segment.executable) bytes += std::min(segment.file_size, file.size() - bytes);
  return bytes;
}

}  // namespace

std::optional<uint64_t> ModuleSymbols::bias(uint64_t base, uint64_t length, uint64_t offset) const {
  const Segment* segment = exact_offsets ? segment_at(segments, offset) : nullptr;
  if (segment && (segment->executable || offset != 0)) {
    return base - (offset - segment->offset + segment->vaddr);
  }
  segment = segment_by_length(segments, length);
  if (!segment) return std::nullopt;
  // The mapping is long enough to contain the file from its beginning: 0 is the true offset.
  if (exact_offsets && offset == 0 && segment->offset >= page &&
      length >= page_up(segment->offset + segment->file_size)) {
    return base - (segment->vaddr - segment->offset);
  }
  return base - page_down(segment->vaddr);
}

const Section* ModuleSymbols::section(uint64_t vaddr) const {
  auto after = std::upper_bound(
      sections.begin(), sections.end(), vaddr,
      [](uint64_t value, const Section& entry) { return value < entry.range.begin; });
  if (after == sections.begin()) return nullptr;
  --after;
  return after->range.contains(vaddr) ? &*after : nullptr;
}

const FunctionRange* ModuleSymbols::function(uint64_t vaddr) const {
  const FunctionRange* function = last_at(functions, vaddr, &FunctionRange::start);
  return function && function->contains(vaddr) ? function : nullptr;
}

ModuleSymbols read_module(const ElfFile* mapped, const ElfFile* debug) {
  ModuleSymbols module;
  const ElfFile* shape = mapped ? mapped : debug;
  if (!shape) return module;
  module.usable = true;
  module.is_64 = shape->layout().is_64;
  module.exact_offsets = mapped != nullptr;
  module.segments = shape->layout().segments;
  module.sections = shape->layout().sections;
  module.build_id = shape->layout().build_id;
  for (const ElfFile* file : {mapped, debug})
    if (file) {
      module.files.push_back(file->name());
      module.identities.push_back(file->identity());
      if (module.owner.value_or(0) == 0) module.owner = file->owner();
    }
  SymbolTableBuilder builder;
  std::optional<ElfFile> mini;  // must stay open until build() has copied the names
  if (mapped) module.code_bytes = code_bytes(*mapped);
  bool complete = mapped && add(*mapped, SHT_SYMTAB, 0, builder, module.refused);
  if (!complete && debug) {
    const uint64_t shift = mapped ? debug_shift(mapped->layout(), debug->layout()) : 0;
    complete = add(*debug, SHT_SYMTAB, shift, builder, module.refused);
  }
  if (!complete && mapped) {
    mini = open_minidebuginfo(*mapped);
    if (mini) complete = add(*mini, SHT_SYMTAB, 0, builder, module.refused);
    const bool exported = add(*mapped, SHT_DYNSYM, 0, builder, module.refused);
    module.exports_only = exported && !complete;
  }
  module.symbols = builder.build(shape->layout().code());
  if (mapped) add_functions(*mapped, module);
  return module;
}

}  // namespace a2n
