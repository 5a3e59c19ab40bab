// SPDX-License-Identifier: MIT
// The page's figures: the ticks of the subject by function and by process.
#include "page_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

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

}  // namespace

std::vector<FunctionTicks> page_functions(const Summary& summary, const Subject& subject) {
  using Ids = std::tuple<NameId, NameId, NameId, bool>;
  std::map<Ids, uint64_t> by_ids;
  const auto name_at = [](const Leaf& leaf, Level level) {
    return static_cast<NameId>(leaf.path[static_cast<size_t>(level)]);
  };
  for (const Leaf& leaf : summary.tree.leaves())
    if (leaf.ticks != 0 && subject.contains(leaf.origin))
      by_ids[{name_at(leaf, Level::symbol), name_at(leaf, Level::module),
              subject.is_system() ? name_at(leaf, Level::process) : no_name, leaf.origin.kernel}] +=
          leaf.ticks;
  // Several mangled names can be one readable name.
  std::map<std::tuple<std::string, NameId, std::string, bool>, uint64_t> by_names;
  for (const auto& [ids, ticks] : by_ids) {
    const auto& [symbol, module, process, kernel] = ids;
    const std::string owner =
        subject.is_system() ? process_base_name(summary.names.text(process), summary.options.labels)
                            : "";
    by_names[{readable(summary, symbol), module, owner, kernel}] += ticks;
  }
  std::vector<FunctionTicks> rows;
  for (const auto& [names, ticks] : by_names) {
    const auto& [symbol, module, process, kernel] = names;
    const bool named = !process.empty() && process != unnamed_process;
    rows.push_back({symbol, module_text(summary, module, kernel),
                    named ? "(" + process + ")" : process, ticks});
  }
  std::ranges::stable_sort(
      rows, [](const FunctionTicks& a, const FunctionTicks& b) { return a.ticks > b.ticks; });
  return rows;
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
