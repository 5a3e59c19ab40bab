// SPDX-License-Identifier: MIT
// Makes the rows of each report: ticks grouped by its levels, sorted and clipped.
#include "report_rows.h"

#include <fmt/format.h>

#include <algorithm>

namespace post {
namespace {

struct Group {
  uint64_t value = 0;
  uint64_t ticks = 0;
  std::span<const Leaf* const> leaves;
};

uint64_t value_of(const Leaf& leaf, Level level) {
  return leaf.path[static_cast<size_t>(level)];
}

// Of a process or thread.
std::optional<uint32_t> common_id(Level level, std::span<const Leaf* const> leaves) {
  if (level != Level::process && level != Level::thread) return {};
  const auto id = [&](const Leaf* leaf) {
    return level == Level::process ? leaf->origin.pid : leaf->origin.tid;
  };
  const uint32_t first = id(leaves.front());
  const bool one = std::ranges::all_of(leaves, [&](const Leaf* leaf) { return id(leaf) == first; });
  return one ? std::optional(first) : std::nullopt;
}

class RowMaker {
 public:
  RowMaker(const StringTable& names, const ReportKind& kind, uint64_t clip)
      : names_(names), kind_(kind), clip_(clip) {}

  std::vector<Row> make(const SampleTree& tree) {
    std::vector<const Leaf*> leaves;
    leaves.reserve(tree.leaves().size());
    for (const Leaf& leaf : tree.leaves()) leaves.push_back(&leaf);
    std::sort(leaves.begin(), leaves.end(), [&](const Leaf* a, const Leaf* b) {
      for (const Level level : kind_.levels)
        if (value_of(*a, level) != value_of(*b, level))
          return value_of(*a, level) < value_of(*b, level);
      return false;
    });
    add(leaves, 0);
    return std::move(rows_);
  }

 private:
  // The leaves agree in all levels further out and are sorted by this one.
  void add(std::span<const Leaf* const> leaves, uint32_t depth) {
    const Level level = kind_.levels[depth];
    std::vector<Group> groups;
    for (size_t begin = 0; begin < leaves.size();) {
      Group group{value_of(*leaves[begin], level), 0, {}};
      size_t end = begin;
      for (; end < leaves.size() && value_of(*leaves[end], level) == group.value; ++end)
        group.ticks += leaves[end]->ticks;
      group.leaves = leaves.subspan(begin, end - begin);
      if (group.ticks >= clip_ && group.ticks != 0) groups.push_back(group);
      begin = end;
    }
    std::sort(groups.begin(), groups.end(),
              [&](const Group& a, const Group& b) { return comes_first(level, a, b); });
    for (const Group& group : groups) {
      rows_.push_back({depth, level, group.value, group.ticks, common_id(level, group.leaves)});
      if (depth + 1 < kind_.levels.size()) add(group.leaves, depth + 1);
    }
  }

  bool comes_first(Level level, const Group& a, const Group& b) const {
    if (a.ticks != b.ticks) return a.ticks > b.ticks;
    if (level == Level::offset) return a.value < b.value;
    return names_.text(static_cast<NameId>(a.value)) < names_.text(static_cast<NameId>(b.value));
  }

  const StringTable& names_;
  const ReportKind& kind_;
  const uint64_t clip_;
  std::vector<Row> rows_;
};

}  // namespace

std::span<const ReportKind> report_kinds() {
  using enum Level;
  static const ReportKind kinds[report_count] = {
      {"Process", {process}},
      {"Process_Module", {process, module}},
      {"Process_Module_Symbol", {process, module, symbol}},
      {"Process_Thread", {process, thread}},
      {"Process_Thread_Module", {process, thread, module}},
      {"Process_Thread_Module_Symbol", {process, thread, module, symbol}},
      {"Module", {module}},
      {"Module_Symbol", {module, symbol}},
  };
  return kinds;
}

const ReportKind& offset_report_kind() {
  using enum Level;
  static const ReportKind kind{"Module_Symbol_Offset", {module, symbol, offset}};
  return kind;
}

std::vector<const ReportKind*> chosen_reports(const ReportOptions& options) {
  std::vector<const ReportKind*> chosen;
  for (size_t i = 0; i < report_count; ++i)
    if (options.selected[i]) chosen.push_back(&report_kinds()[i]);
  return chosen;
}

const char* level_word(Level level) {
  constexpr const char* words[levels] = {"process", "thread", "module", "symbol", "offset"};
  return words[static_cast<size_t>(level)];
}

const char* level_label(Level level) {
  constexpr const char* labels[levels] = {"PID", "TID", "MOD", "SYM", "OFF"};
  return labels[static_cast<size_t>(level)];
}

std::vector<Row> make_rows(const SampleTree& tree, const StringTable& names, const ReportKind& kind,
                           uint64_t clip) {
  return RowMaker(names, kind, clip).make(tree);
}

std::string row_name(const Row& row, const StringTable& names) {
  if (row.level == Level::offset) return fmt::format("0x{:x}", row.value);
  return names.text(static_cast<NameId>(row.value));
}

}  // namespace post
