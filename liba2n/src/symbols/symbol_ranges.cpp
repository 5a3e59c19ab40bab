// SPDX-License-Identifier: MIT
// Ranges of symbols that are reported as one symbol.
#include "symbol_ranges.h"

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <utility>

#include "base/safe_file.h"

namespace a2n {
namespace {

constexpr uint64_t max_description = 1 << 24;  // bytes

bool is_module(std::string_view rule, std::string_view module) {
  return rule == module || rule == module.substr(module.rfind('/') + 1);
}

// The first symbol with that name, or null.
const Symbol* symbol_named(const TablePart& part, const std::string& name) {
  const SymbolTable& table = *part.table;
  for (uint32_t i = 0; i < table.size(); ++i)
    if (part.contains(i) && name == table.name(table[i])) return &table[i];
  return nullptr;
}

}  // namespace

void SymbolRanges::add(std::string module, std::string first, std::string last, std::string name) {
  if (name.empty()) name = first + ".." + last;
  rules_.push_back({std::move(module), std::move(first), std::move(last), std::move(name)});
  resolved_.clear();
}

pi::Status SymbolRanges::read(const std::string& path) {
  const auto text = read_text(path, 0, max_description);
  if (!text) return text.error();
  std::istringstream lines(*text);
  std::vector<Rule> rules;
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line);
    Rule rule;
    std::string more;
    if (!(words >> rule.module) || rule.module.starts_with('#')) continue;
    if (!(words >> rule.first >> rule.last) || (words >> rule.name && words >> more))
      return pi::Error{EINVAL, path + ": line " + std::to_string(number) +
                                   " is not of the form \"MODULE FIRST LAST [NAME]\""};
    rules.push_back(std::move(rule));
  }
  for (Rule& rule : rules)
    add(std::move(rule.module), std::move(rule.first), std::move(rule.last), std::move(rule.name));
  return {};
}

const SymbolRange* SymbolRanges::find(std::string_view module, const TablePart& part,
                                      uint64_t address, Notes& notes) {
  auto known = resolved_.find(part);
  if (known == resolved_.end()) known = resolved_.emplace(part, resolve(module, part, notes)).first;
  const auto found = std::find_if(
      known->second.begin(), known->second.end(),
      [address](const SymbolRange& range) { return range.addresses.contains(address); });
  return found == known->second.end() ? nullptr : &*found;
}

std::vector<SymbolRange> SymbolRanges::resolve(std::string_view module, const TablePart& part,
                                               Notes& notes) const {
  std::vector<SymbolRange> ranges;
  for (const Rule& rule : rules_) {
    if (!is_module(rule.module, module)) continue;
    const Symbol* first = symbol_named(part, rule.first);
    const Symbol* last = symbol_named(part, rule.last);
    if (!first || !last) {
      notes.add("range " + rule.name + ": " + std::string(module) + " has no symbol " +
                (first ? rule.last : rule.first) + "; the range is not used");
      continue;
    }
    if (last->start < first->start) std::swap(first, last);
    ranges.push_back({{first->start, last->start + last->size}, rule.name});
  }
  return ranges;
}

}  // namespace a2n
