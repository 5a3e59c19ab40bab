// SPDX-License-Identifier: MIT
// The rows of the browser's views: the selected ticks by process, thread, module or symbol, or by
// the callers, callees and lines of one symbol.
#include "rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "analysis/call_tree.h"
#include "analysis/micro.h"
#include "report/call_rows.h"
#include "report/path_rows.h"
#include "report/report_calls.h"
#include "text/labels.h"
#include "text/text.h"

namespace post::top {
namespace {

NameId id_at(const Leaf& leaf, Level level) {
  return static_cast<NameId>(leaf.path[static_cast<size_t>(level)]);
}

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

class Names {
 public:
  explicit Names(const Summary& summary) : summary_(summary) {}

  const std::string& text(NameId id) const { return summary_.names.text(id); }

  // "app:32"
  std::string process(const Leaf& leaf) const {
    return process(text(id_at(leaf, Level::process)), leaf.origin.pid);
  }
  std::string thread(const Leaf& leaf) const {
    const std::string name = thread_base_name(text(id_at(leaf, Level::thread)), leaf.origin.tid);
    return fmt::format("{}:{}", name.empty() ? unnamed_process : name, leaf.origin.tid);
  }
  std::string module(const Leaf& leaf) const {
    const std::string& path = text(id_at(leaf, Level::module));
    return leaf.origin.kernel ? short_module(path, true) : path;
  }
  std::string short_module(const std::string& path, bool kernel) const {
    const std::string name = base_name(path);
    if (!kernel) return name;
    return name == "vmlinux" || name.empty() ? "[kernel]" : "[kernel] " + name;
  }
  std::string symbol(NameId id) const { return printable(readable(summary_, id)); }

 private:
  std::string process(const std::string& label, uint32_t pid) const {
    const std::string name = process_base_name(label, summary_.options.labels);
    return pid == exited_pid ? name : fmt::format("{}:{}", name, pid);
  }

  const Summary& summary_;
};

// What a tick fell on: the names of its process, thread, module and symbol.
using Ids = std::array<NameId, 4>;

NameId id_at(const Ids& ids, Level level) {
  return ids[static_cast<size_t>(level)];
}

Ids ids_of(const Leaf& leaf) {
  return {id_at(leaf, Level::process), id_at(leaf, Level::thread), id_at(leaf, Level::module),
          id_at(leaf, Level::symbol)};
}

// The two numbers by which ticks of a level are grouped: of the owner, and of the item.
std::pair<NameId, NameId> ids_of(const Ids& ids, Level level) {
  const NameId id = id_at(ids, level);
  if (level == Level::thread) return {id_at(ids, Level::process), id};
  if (level == Level::symbol) return {id_at(ids, Level::module), id};
  return {no_name, id};
}

Row make_row(const Names& names, const Leaf& leaf, Level level) {
  const auto [owner, id] = ids_of(ids_of(leaf), level);
  Row row{{level, names.text(owner), names.text(id)}, 0, {}, {}};
  switch (level) {
    case Level::process:
      row.name = names.process(leaf);
      break;
    case Level::thread:
      row.name = names.thread(leaf);
      row.owner = names.process(leaf);
      break;
    case Level::module:
      row.name = names.module(leaf);
      break;
    default:
      row.name = names.symbol(id);
      row.owner = names.short_module(names.text(owner), leaf.origin.kernel);
      break;
  }
  return row;
}

// Decides which ticks are selected.
class Filter {
 public:
  Filter(const Names& names, const std::vector<ItemFilter>& filters)
      : names_(names), filters_(filters) {}

  bool takes(const Ids& ids) const {
    return std::ranges::all_of(filters_, [&](const ItemFilter& filter) {
      const auto [owner, id] = ids_of(ids, filter.item.level);
      return fits(filter.item, owner, id) != filter.without;
    });
  }

 private:
  bool fits(const Item& item, NameId owner, NameId id) const {
    return names_.text(id) == item.name && names_.text(owner) == item.owner;
  }

  const Names& names_;
  const std::vector<ItemFilter>& filters_;
};

void sort_by_ticks(std::vector<Row>& rows) {
  std::ranges::stable_sort(rows, [](const Row& a, const Row& b) {
    if (a.ticks != b.ticks) return a.ticks > b.ticks;
    return a.name != b.name ? a.name < b.name : a.owner < b.owner;
  });
}

Row edge_row(const Summary& summary, const CallTree& calls, const CallEdge& edge) {
  const Names names(summary);
  const Frame& frame = calls.frames().frame(edge.id);
  if (frame.marker) return {{}, edge.ticks, calls.frames().name(edge.id), {}};
  return {{Level::symbol, names.text(frame.module), names.text(frame.symbol)},
          edge.ticks,
          names.symbol(frame.symbol),
          names.short_module(names.text(frame.module), frame.kernel)};
}

}  // namespace

Rows flat_rows(const Summary& summary, const std::vector<ItemFilter>& filters, Level level) {
  const Names names(summary);
  const Filter filter(names, filters);
  std::map<std::pair<NameId, NameId>, size_t> known;
  Rows made;
  for (const Leaf& leaf : summary.tree.leaves()) {
    const Ids ids = ids_of(leaf);
    if (leaf.ticks == 0 || !filter.takes(ids)) continue;
    const auto [at, added] = known.try_emplace(ids_of(ids, level), made.rows.size());
    if (added) made.rows.push_back(make_row(names, leaf, level));
    made.rows[at->second].ticks += leaf.ticks;
    made.whole += leaf.ticks;
  }
  sort_by_ticks(made.rows);
  return made;
}

Rows call_rows(const Summary& summary, const std::vector<ItemFilter>& filters, const Item& symbol,
               Side side) {
  const Names names(summary);
  const Filter filter(names, filters);
  const CallTree& calls = *summary.find<CallTree>();
  if (const auto lack = lack_of_stacks(summary))
    return {{}, 0, "The trace " + lack->what + " " + lack->hint};
  Rows made;
  uint64_t own = 0, outermost = 0;
  std::map<std::string, Row> edges;  // the same function may have been found in several ways
  const auto wanted = [&](NameId process, NameId thread, const Frame& frame) {
    return filter.takes({process, thread, frame.module, frame.symbol});
  };
  for (const FunctionRow& function : make_function_rows(calls, wanted)) {
    const Frame& frame = calls.frames().frame(function.id);
    if (frame.marker || names.text(frame.symbol) != symbol.name ||
        names.text(frame.module) != symbol.owner)
      continue;
    made.whole += function.inclusive;
    own += function.exclusive;
    outermost += function.outermost;
    for (const CallEdge& edge : side == Side::callers ? function.callers : function.callees) {
      const auto [at, added] = edges.try_emplace(edge.name, edge_row(summary, calls, edge));
      if (!added) at->second.ticks += edge.ticks;
    }
  }
  for (auto& [name, row] : edges) made.rows.push_back(std::move(row));
  if (side == Side::callers && outermost != 0)
    made.rows.push_back({{}, outermost, "(the beginning of the stack)", {}});
  if (side == Side::callees && own != 0) made.rows.push_back({{}, own, "(in itself)", {}});
  sort_by_ticks(made.rows);
  made.note = made.whole == 0
                  ? "No selected tick fell on it or on what it calls."
                  : fmt::format("{} ticks in it and what it calls, {} in itself.", made.whole, own);
  return made;
}

Rows line_rows(const Summary& summary, const std::vector<ItemFilter>& filters, const Item& symbol,
               const AnnotationStyle& style) {
  const Names names(summary);
  const Filter filter(names, filters);
  Rows made;
  uint64_t selected = 0;
  const Leaf* of_symbol = nullptr;
  for (const Leaf& leaf : summary.tree.leaves()) {
    if (leaf.ticks == 0 || !filter.takes(ids_of(leaf))) continue;
    selected += leaf.ticks;
    if (names.text(id_at(leaf, Level::symbol)) == symbol.name &&
        names.text(id_at(leaf, Level::module)) == symbol.owner)
      of_symbol = &leaf;
  }
  if (!of_symbol) return {{}, 0, "No selected tick fell on it itself."};
  const NameId module = id_at(*of_symbol, Level::module);
  const NameId name = id_at(*of_symbol, Level::symbol);
  const std::vector<Micro::Function> functions =
      summary.find<Micro>()->functions(module, name, [&](NameId process, NameId thread) {
        return filter.takes({process, thread, module, name});
      });
  for (const Micro::Function& function : functions) made.whole += function.ticks;
  for (AnnotationLine& line : annotated_lines(summary, functions, selected, style))
    made.rows.push_back({{}, line.ticks, std::move(line.text), {}, std::move(line.place)});
  if (functions.empty())
    made.note = "Its lines are not known: it was inlined, or its module is not known.";
  return made;
}

}  // namespace post::top
