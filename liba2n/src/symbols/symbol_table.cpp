// SPDX-License-Identifier: MIT
// A module's symbols, sorted for lookup, and the rules that choose one of several aliases.
#include "symbol_table.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/last_at.h"

namespace a2n {
namespace {

constexpr size_t max_symbols = size_t{1} << 26;
constexpr size_t max_names = (size_t{1} << 31) - 1;
constexpr uint32_t no_name = UINT32_MAX;  // the name does not fit into max_names

size_t leading_underscores(std::string_view name) {
  return std::min(name.find_first_not_of('_'), name.size());
}

}  // namespace

const Symbol* SymbolTable::find(uint64_t address) const {
  const Symbol* symbol = last_at(symbols_, address, &Symbol::start);
  if (!symbol || address - symbol->start < symbol->size) return symbol;
  const Rest* rest = last_at(rests_, address, &Rest::begin);
  return rest && address < rest->end ? &symbols_[rest->symbol] : nullptr;
}

const Symbol* SymbolTable::before(uint64_t address) const {
  return last_at(symbols_, address, &Symbol::start);
}

std::optional<SymbolTable> SymbolTable::restore(std::vector<Symbol> symbols, std::string names) {
  if (symbols.size() > max_symbols || names.size() > max_names) return std::nullopt;
  size_t at = 0;
  for (size_t i = 0; i < symbols.size(); ++i) {
    Symbol& symbol = symbols[i];
    const size_t end = names.find('\0', at);
    if (end == names.npos || end == at) return std::nullopt;
    if (i > 0 && symbol.start <= symbols[i - 1].start) return std::nullopt;
    if (symbol.size > UINT64_MAX - symbol.start) return std::nullopt;
    symbol.name = static_cast<uint32_t>(at) & 0x7fffffffu;
    at = end + 1;
  }
  if (at != names.size()) return std::nullopt;
  SymbolTable table;
  table.symbols_ = std::move(symbols);
  table.names_ = std::move(names);
  table.find_rests();
  return table;
}

// Walks the symbols with a stack of the open ones; each is pushed and popped once.
void SymbolTable::find_rests() {
  std::vector<uint32_t> open;
  const auto end_of = [this](uint32_t i) { return symbols_[i].start + symbols_[i].size; };
  for (uint32_t i = 0; i < symbols_.size(); ++i) {
    const uint64_t next = i + 1 < symbols_.size() ? symbols_[i + 1].start : UINT64_MAX;
    uint64_t at = end_of(i);
    if (at > next) open.push_back(i);
    while (at < next && !open.empty()) {
      const uint64_t end = std::min(end_of(open.back()), next);
      if (end > at) {
        rests_.push_back({at, end, open.back()});
        at = end;
      }
      if (at < next) open.pop_back();
    }
  }
}

bool SymbolTableBuilder::better_name(std::string_view a, std::string_view b) {
  return std::make_tuple(leading_underscores(a), a.size(), a) <
         std::make_tuple(leading_underscores(b), b.size(), b);
}

bool SymbolTableBuilder::before(const Raw& a, const Raw& b) {
  const auto rank = [](const Raw& raw) {
    return std::make_tuple(raw.start, raw.size == 0, !raw.function, raw.binding, raw.underscores,
                           raw.name.size());
  };
  return rank(a) != rank(b) ? rank(a) < rank(b) : a.name < b.name;
}

void SymbolTableBuilder::add(uint64_t start, uint64_t size, std::string_view name, Binding binding,
                             bool function) {
  if (name.empty() || raw_.size() >= max_symbols) return;
  size = std::min(size, UINT64_MAX - start);
  raw_.push_back({start, size, name, binding, function,
                  static_cast<uint32_t>(std::min<size_t>(leading_underscores(name), UINT32_MAX))});
}

void SymbolTableBuilder::keep_one_per_address() {
  std::sort(raw_.begin(), raw_.end(), before);
  size_t kept = 0;
  for (size_t i = 0; i < raw_.size(); ++i) {
    if (kept > 0 && raw_[kept - 1].start == raw_[i].start) {
      raw_[kept - 1].size = std::max(raw_[kept - 1].size, raw_[i].size);
    } else {
      raw_[kept++] = raw_[i];
    }
  }
  raw_.resize(kept);
}

void SymbolTableBuilder::keep_inside(const std::vector<Range>& regions) {
  std::erase_if(raw_, [&](Raw& raw) {
    const Range* region = last_at(regions, raw.start, &Range::begin);
    if (!region || !region->contains(raw.start)) return true;
    raw.size = std::min(raw.size, region->end - raw.start);
    return false;
  });
}

void SymbolTableBuilder::drop_covered_labels() {
  uint64_t covered = 0;  // the end of the symbols with a size so far
  std::erase_if(raw_, [&covered](const Raw& raw) {
    if (raw.size == 0) return raw.start < covered;
    covered = std::max(covered, raw.start + raw.size);
    return false;
  });
}

// Appends all names and returns each symbol's offset in names. Names are sorted by their end in
// memory, the longest first: the others with the same end are its suffixes.
std::vector<uint32_t> SymbolTableBuilder::append_names(std::string& names) const {
  const auto end_of = [this](uint32_t i) { return raw_[i].name.data() + raw_[i].name.size(); };
  std::vector<uint32_t> order(raw_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return end_of(a) != end_of(b) ? std::less<>()(end_of(a), end_of(b))
                                  : raw_[a].name.size() > raw_[b].name.size();
  });
  std::vector<uint32_t> offsets(raw_.size(), no_name);
  const char* end = nullptr;
  for (const uint32_t i : order) {
    const std::string_view name = raw_[i].name;
    if (end_of(i) != end) {
      if (names.size() + name.size() >= max_names) break;
      names.append(name).push_back('\0');
      end = end_of(i);
    }
    offsets[i] = static_cast<uint32_t>(names.size() - 1 - name.size());
  }
  return offsets;
}

SymbolTable SymbolTableBuilder::build(std::vector<Range> regions) {
  std::sort(regions.begin(), regions.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  keep_one_per_address();
  keep_inside(regions);
  drop_covered_labels();
  SymbolTable table;
  const std::vector<uint32_t> names = append_names(table.names_);
  table.symbols_.reserve(raw_.size());
  for (size_t i = 0; i < raw_.size(); ++i) {
    const Raw& raw = raw_[i];
    if (names[i] == no_name) continue;
    uint64_t size = raw.size;
    if (size == 0) {
      const Range* region = last_at(regions, raw.start, &Range::begin);
      const uint64_t next = i + 1 < raw_.size() ? raw_[i + 1].start : UINT64_MAX;
      size = std::min(region->end, next) - raw.start;
    }
    table.symbols_.push_back({raw.start,
                              static_cast<uint32_t>(std::min<uint64_t>(size, UINT32_MAX)),
                              names[i] & 0x7fffffffu, raw.size == 0});
  }
  raw_.clear();
  raw_.shrink_to_fit();
  table.names_.shrink_to_fit();
  table.find_rests();
  return table;
}

}  // namespace a2n
