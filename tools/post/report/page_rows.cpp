// SPDX-License-Identifier: MIT
// The page's figures: the ticks of the subject by function and by process.
#include "page_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>

#include "path_rows.h"
#include "text/labels.h"

namespace post {
namespace {

std::string module_text(const Summary& summary, NameId module, bool kernel) {
  const std::string& path = summary.names.text(module);
  const std::string name = path.substr(path.rfind('/') + 1);
  if (!kernel) return name;
  return name == "vmlinux" || name.empty() ? "[kernel]" : fmt::format("[kernel] {}", name);
}

// Names that are equal when they are shown have one id here. Most are shown as they are, so that
// very many need no text of their own.
class OneIdEach {
 public:
  OneIdEach(std::function<std::string(NameId)> shown, const StringTable& names)
      : shown_(std::move(shown)), names_(names), ids_(names.size(), unknown) {}

  NameId of(NameId id) {
    if (ids_[id] == unknown) ids_[id] = find(id);
    return ids_[id];
  }
  // Of an id that of() has returned.
  const std::string& text(NameId id) const {
    const auto other = texts_.find(id);
    return other == texts_.end() ? names_.text(id) : *other->second;
  }

 private:
  static constexpr NameId unknown = ~NameId{0};

  NameId find(NameId id) {
    std::string text = shown_(id);
    if (text == names_.text(id)) return id;
    // A name that is shown as it is can have this text, too.
    const auto plain = names_.find(text);
    const NameId one = plain && shown_(*plain) == text ? *plain : id;
    const auto [place, first] = by_text_.try_emplace(std::move(text), one);
    texts_.try_emplace(place->second, &place->first);
    return place->second;
  }

  std::function<std::string(NameId)> shown_;
  const StringTable& names_;
  std::vector<NameId> ids_;  // by id
  std::map<std::string, NameId> by_text_;
  std::unordered_map<NameId, const std::string*> texts_;  // of by_text_
};

struct IdTicks {
  NameId function, module, owner;
  bool kernel;
  uint64_t ticks;
};

void unite_equal(std::vector<IdTicks>& rows) {
  const auto ids = [](const IdTicks& row) {
    return std::tie(row.function, row.module, row.owner, row.kernel);
  };
  std::ranges::sort(rows, {}, ids);
  size_t kept = 0;
  for (const IdTicks& row : rows)
    if (kept != 0 && ids(rows[kept - 1]) == ids(row))
      rows[kept - 1].ticks += row.ticks;
    else
      rows[kept++] = row;
  rows.resize(kept);
}

}  // namespace

FunctionsWithMost page_functions(const Summary& summary, const Subject& subject, size_t limit) {
  OneIdEach functions([&](NameId id) { return readable(summary, id); }, summary.names);
  OneIdEach owners(
      [&](NameId id) { return process_base_name(summary.names.text(id), summary.options.labels); },
      summary.names);
  std::vector<IdTicks> all;
  const auto name_at = [](const Leaf& leaf, Level level) {
    return static_cast<NameId>(leaf.path[static_cast<size_t>(level)]);
  };
  for (const Leaf& leaf : summary.tree.leaves())
    if (leaf.ticks != 0 && subject.contains(leaf.origin))
      all.push_back({functions.of(name_at(leaf, Level::symbol)), name_at(leaf, Level::module),
                     subject.is_system() ? owners.of(name_at(leaf, Level::process)) : no_name,
                     leaf.origin.kernel, leaf.ticks});
  unite_equal(all);
  const auto names = [&](const IdTicks& row) {
    return std::tie(functions.text(row.function), row.module, owners.text(row.owner), row.kernel);
  };
  const auto end = all.begin() + static_cast<ptrdiff_t>(std::min(limit, all.size()));
  std::ranges::partial_sort(all, end, [&](const IdTicks& a, const IdTicks& b) {
    return a.ticks != b.ticks ? a.ticks > b.ticks : names(a) < names(b);
  });
  FunctionsWithMost most{{}, all.size()};
  for (auto row = all.begin(); row != end; ++row) {
    const std::string& owner = owners.text(row->owner);
    const bool named = !owner.empty() && owner != unnamed_process;
    most.rows.push_back({functions.text(row->function),
                         module_text(summary, row->module, row->kernel),
                         named ? "(" + owner + ")" : owner, row->ticks});
  }
  return most;
}

std::vector<NamedTicks> page_processes(const Summary& summary, const Subject& subject,
                                       bool of_subject) {
  std::map<std::string, uint64_t> by_name;
  for (const Leaf& leaf : summary.tree.leaves())
    if (leaf.ticks != 0 && (of_subject || leaf.origin.pid != idle_pid) &&
        subject.contains(leaf.origin) == of_subject)
      by_name[process_name(leaf, summary)] += leaf.ticks;
  std::vector<NamedTicks> rows;
  for (const auto& [name, ticks] : by_name) rows.emplace_back(ticks, name);
  std::ranges::stable_sort(
      rows, [](const NamedTicks& a, const NamedTicks& b) { return a.first > b.first; });
  return rows;
}

}  // namespace post
