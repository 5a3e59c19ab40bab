// SPDX-License-Identifier: MIT
// Reads the unwind table of one file.
#include "table.h"

#include <algorithm>
#include <cstring>

namespace unwind {
namespace {

// Takes count objects from the front of bytes.
template <class T>
std::optional<std::span<const T>> take(std::span<const std::byte>& bytes, size_t count) {
  if (count > bytes.size() / sizeof(T)) return std::nullopt;
  const std::span<const T> taken(reinterpret_cast<const T*>(bytes.data()), count);
  bytes = bytes.subspan(count * sizeof(T));
  return taken;
}

bool good_rows(std::span<const Row> rows, size_t rules) {
  return std::ranges::all_of(rows, [=](const Row& row) { return row.rule < rules; }) &&
         std::ranges::adjacent_find(
             rows, [](const Row& a, const Row& b) { return a.address >= b.address; }) == rows.end();
}

bool is_good(const Cfa& cfa, size_t saves) {
  return cfa.kind <= last_cfa_kind && cfa.base < register_count && cfa.first <= saves &&
         cfa.saves <= saves - cfa.first;
}

bool is_good(const Save& save) {
  return save.kind <= last_save_kind && save.base < register_count && save.reg < register_count;
}

}  // namespace

std::optional<Table> Table::check(std::span<const std::byte> bytes) {
  Table table;
  if (bytes.size() < sizeof table.header_ ||
      reinterpret_cast<uintptr_t>(bytes.data()) % alignof(TableHeader) != 0)
    return std::nullopt;
  std::memcpy(&table.header_, bytes.data(), sizeof table.header_);
  bytes = bytes.subspan(sizeof table.header_);
  const auto rows = take<Row>(bytes, table.header_.rows);
  const auto rules = take<Cfa>(bytes, table.header_.rules);
  const auto saves = take<Save>(bytes, table.header_.saves);
  const auto symbols = take<uint64_t>(bytes, table.header_.symbols);
  if (table.header_.magic != table_magic || table.header_.runtime > last_runtime || !rows ||
      !rules || !saves || !symbols || !bytes.empty())
    return std::nullopt;
  if (!good_rows(*rows, rules->size()) ||
      !std::ranges::all_of(*rules, [&](const Cfa& cfa) { return is_good(cfa, saves->size()); }) ||
      !std::ranges::all_of(*saves, [](const Save& save) { return is_good(save); }))
    return std::nullopt;
  table.rows_ = *rows;
  table.rules_ = *rules;
  table.saves_ = *saves;
  table.symbols_ = *symbols;
  table.make_index();
  return table;
}

void Table::make_index() {
  constexpr size_t rows_a_part = 8;
  const uint32_t last = rows_.empty() ? 0 : rows_.back().address;
  while (shift_ < 31 && last >> shift_ > rows_.size() / rows_a_part) ++shift_;
  index_.reserve((last >> shift_) + 2);
  size_t row = 0;
  for (uint64_t begin = 0; begin <= last; begin += uint64_t{1} << shift_) {
    while (row < rows_.size() && rows_[row].address < begin) ++row;
    index_.push_back(static_cast<uint32_t>(row));
  }
  index_.push_back(static_cast<uint32_t>(rows_.size()));
}

Table::Found Table::find(uint64_t address) const {
  const uint64_t place = address - header_.base;
  if (address < header_.base || place > UINT32_MAX) return {&no_rule, {}};
  if (rows_.empty()) return {&no_rule, {}};
  const size_t part = std::min<size_t>(place >> shift_, index_.size() - 2);
  const auto after =
      std::ranges::upper_bound(rows_.begin() + index_[part], rows_.begin() + index_[part + 1],
                               static_cast<uint32_t>(place), {}, &Row::address);
  if (after == rows_.begin()) return {&no_rule, {}};
  const Cfa& cfa = rules_[std::prev(after)->rule];
  return {&cfa, saves_.subspan(cfa.first, cfa.saves)};
}

}  // namespace unwind
