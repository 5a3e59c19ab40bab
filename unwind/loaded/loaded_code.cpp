// SPDX-License-Identifier: MIT
// The rule of an instruction of this process, from the unwind information that the loader has
// mapped.
#include "loaded_code.h"

#include <dlfcn.h>
#include <dwarf.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <optional>
#include <string_view>

#include <pi/dwarf_pointer.h>

#include "compile/cfi_program.h"
#include "compile/cfi_section.h"
#include "table/table_builder.h"

namespace unwind {
namespace {

// Of one function, in bytes: each may need some hundred bytes of memory. The longest of a compiler
// has two thousand.
constexpr size_t max_instructions = 32 << 10;

// A row of the index: distances from its own begin.
struct IndexRow {
  int32_t function;
  int32_t entry;
};

struct LoadedFile {
  uint64_t index, end;  // addresses of .eh_frame_hdr and of the end of the file's mappings
};

std::optional<LoadedFile> file_at(uint64_t address) {
  dl_find_object found{};
  if (::_dl_find_object(reinterpret_cast<void*>(address), &found) != 0) return std::nullopt;
  return LoadedFile{reinterpret_cast<uint64_t>(found.dlfo_eh_frame),
                    reinterpret_cast<uint64_t>(found.dlfo_map_end)};
}

std::string_view bytes_between(uint64_t begin, uint64_t end) {
  return {reinterpret_cast<const char*>(begin), begin < end ? end - begin : 0};
}

// The address of the entry of the last function that begins at this address or before.
std::optional<uint64_t> entry_for(std::string_view index, uint64_t index_address, uint64_t address,
                                  uint64_t& section) {
  constexpr uint8_t sorted_rows = DW_EH_PE_datarel | DW_EH_PE_sdata4;
  pi::DwarfBytes in(index);
  const uint64_t version = in.number(1);
  const auto section_form = static_cast<uint8_t>(in.number(1));
  const auto count_form = static_cast<uint8_t>(in.number(1));
  const uint64_t row_form = in.number(1);
  section = pi::read_pointer(in, section_form, 8, index_address);
  const uint64_t count = pi::read_pointer_form(in, count_form, 8);
  if (!in.good() || version != 1 || row_form != sorted_rows || count > in.left() / sizeof(IndexRow))
    return std::nullopt;
  const auto* rows = reinterpret_cast<const IndexRow*>(index.data() + in.at());
  const auto place = static_cast<int64_t>(address - index_address);
  const auto* after = std::upper_bound(
      rows, rows + count, place, [](int64_t a, const IndexRow& row) { return a < row.function; });
  if (after == rows) return std::nullopt;
  return index_address + static_cast<uint64_t>(int64_t{after[-1].entry});
}

OwnedRule rule_in(const LoadedFile& file, uint64_t address) {
  OwnedRule rule;
  uint64_t begin = 0;
  const auto entry_address =
      entry_for(bytes_between(file.index, file.end), file.index, address, begin);
  if (!entry_address || *entry_address < begin || *entry_address >= file.end) return rule;
  const CfiSection section(bytes_between(begin, file.end), begin, true);
  CfiEntry entry;
  if (!section.read(*entry_address - begin, entry) || entry.kind != CfiEntry::Kind::function)
    return rule;
  const CfiCommon common = section.common_at(entry.common);
  const auto function = common.valid ? section.function(entry, common) : std::nullopt;
  if (!function || address < function->begin || address - function->begin >= function->bytes ||
      function->instructions.size() > max_instructions)
    return rule;
  TableBuilder rows;
  rows.begin_function(function->begin, function->begin + function->bytes);
  CfiProgram(common).run(function->instructions, function->begin, rows);
  const auto bytes = rows.take();
  const auto table = Table::check(bytes);
  if (!table) return rule;
  const Table::Found found = table->find(address);
  rule.cfa = *found.cfa;
  std::copy_n(found.saves.begin(), std::min(found.saves.size(), rule.saves.size()),
              rule.saves.begin());
  return rule;
}

}  // namespace

bool is_loaded(uint64_t address) {
  return file_at(address).has_value();
}

OwnedRule find_rule(uint64_t address) {
  try {
    const auto file = file_at(address);
    return file && file->index ? rule_in(*file, address) : OwnedRule();
  } catch (const std::bad_alloc&) {
    return {};
  }
}

}  // namespace unwind
