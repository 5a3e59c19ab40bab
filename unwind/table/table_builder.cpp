// SPDX-License-Identifier: MIT
// Builds the unwind table of one file from the rows of its functions.
#include "table_builder.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace unwind {
namespace {

constexpr uint32_t no_information = 0;  // number of the rule for code without one

template <class T>
void append(std::vector<std::byte>& bytes, const T* first, size_t count) {
  const auto* from = reinterpret_cast<const std::byte*>(first);
  bytes.insert(bytes.end(), from, from + count * sizeof(T));
}

}  // namespace

size_t TableBuilder::Hash::operator()(const Rule& rule) const {
  static_assert(std::has_unique_object_representations_v<Save>);
  const auto text = [](const auto& value) {
    return std::string_view(reinterpret_cast<const char*>(&value), sizeof value);
  };
  const std::hash<std::string_view> hash;
  return hash(text(rule.cfa)) * 31 + hash(text(rule.saves));
}

TableBuilder::TableBuilder() {
  last_id_ = intern(Rule{});
}

uint32_t TableBuilder::intern(const Rule& rule) {
  const auto [known, is_new] = known_.try_emplace(rule, static_cast<uint32_t>(cfas_.size()));
  if (!is_new) return known->second;
  Cfa cfa = rule.cfa;
  cfa.first = static_cast<uint32_t>(saves_.size());
  for (unsigned reg = 0; reg < register_count; ++reg) {
    Save save = rule.saves[reg];
    if (save.kind == SaveKind::same) continue;
    save.reg = static_cast<uint8_t>(reg);
    saves_.push_back(save);
    ++cfa.saves;
  }
  cfas_.push_back(cfa);
  return known->second;
}

void TableBuilder::begin_function(uint64_t begin, uint64_t end) {
  functions_.push_back({begin, end, rows_.size(), 0});
}

void TableBuilder::add_row(uint64_t address, const Rule& rule) {
  Function& function = functions_.back();
  // An address before the function: beyond the last address there is.
  if (address < function.begin || address >= function.end || address - function.begin > UINT32_MAX)
    return;
  if (rule.cfa.kind == CfaKind::unsupported) ++unsupported_;
  if (rule != last_) {
    last_ = rule;
    last_id_ = intern(rule);
  }
  const auto distance = static_cast<uint32_t>(address - function.begin);
  // A later rule for the same address replaces the earlier one.
  if (function.rows != 0 && rows_.back().distance == distance) {
    rows_.back().rule = last_id_;
    return;
  }
  rows_.push_back({distance, last_id_});
  ++function.rows;
}

std::vector<Row> TableBuilder::sorted_rows(uint64_t base) {
  std::vector<Row> sorted;
  sorted.reserve(rows_.size() + functions_.size());
  const auto put = [&](uint64_t address, uint32_t rule) {
    // Code beyond 4 GiB from the first function has no rows.
    if (address - base > UINT32_MAX) return;
    const auto place = static_cast<uint32_t>(address - base);
    if (!sorted.empty() && sorted.back().address == place) sorted.pop_back();
    if (sorted.empty() || sorted.back().rule != rule) sorted.push_back({place, rule});
  };
  for (size_t i = 0; i < functions_.size(); ++i) {
    const Function& function = functions_[i];
    const uint64_t next = i + 1 < functions_.size() ? functions_[i + 1].begin : UINT64_MAX;
    for (size_t row = function.first_row; row < function.first_row + function.rows; ++row) {
      const uint64_t address = function.begin + rows_[row].distance;
      if (address >= next) break;
      put(address, rows_[row].rule);
    }
    if (function.end < next) put(function.end, no_information);
  }
  return sorted;
}

void TableBuilder::set_runtime(Runtime runtime, std::vector<uint64_t> symbols) {
  runtime_ = runtime;
  symbols_ = std::move(symbols);
}

void TableBuilder::fill_gaps(uint64_t begin, uint64_t end, uint64_t bytes, const Rule& rule) {
  std::ranges::stable_sort(functions_, {}, &Function::begin);
  std::vector<std::pair<uint64_t, uint64_t>> gaps;
  uint64_t covered = begin;
  const auto add = [&](uint64_t next) {
    if (next > covered && next - covered >= bytes) gaps.emplace_back(covered, next);
  };
  for (const Function& function : functions_) {
    add(std::min(function.begin, end));
    covered = std::max(covered, function.end);
  }
  add(end);
  for (const auto& [first, last] : gaps) {
    begin_function(first, last);
    add_row(first, rule);
  }
}

std::vector<std::byte> TableBuilder::take() {
  std::ranges::stable_sort(functions_, {}, &Function::begin);
  const uint64_t base = functions_.empty() ? 0 : functions_.front().begin;
  const std::vector<Row> sorted = sorted_rows(base);
  const TableHeader header{table_magic,
                           base,
                           static_cast<uint32_t>(sorted.size()),
                           static_cast<uint32_t>(cfas_.size()),
                           static_cast<uint32_t>(saves_.size()),
                           invalid_,
                           unsupported_,
                           runtime_,
                           static_cast<uint16_t>(symbols_.size())};
  std::vector<std::byte> bytes;
  bytes.reserve(sizeof header + sorted.size() * sizeof(Row) + cfas_.size() * sizeof(Cfa) +
                saves_.size() * sizeof(Save) + symbols_.size() * sizeof(uint64_t));
  append(bytes, &header, 1);
  append(bytes, sorted.data(), sorted.size());
  append(bytes, cfas_.data(), cfas_.size());
  append(bytes, saves_.data(), saves_.size());
  append(bytes, symbols_.data(), symbols_.size());
  *this = TableBuilder();
  return bytes;
}

}  // namespace unwind
