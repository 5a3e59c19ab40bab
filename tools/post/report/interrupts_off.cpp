// SPDX-License-Identifier: MIT
// Explains ticks at functions that enable interrupts.
#include "interrupts_off.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace post {
namespace {

constexpr double least_percent = 2;
constexpr size_t most_names = 3;

// pvm_irq_enable, _raw_spin_unlock_irqrestore, finish_task_switch.isra.0 ...
bool enables_interrupts(std::string_view name) {
  constexpr std::string_view parts[] = {"irq_enable", "irqrestore", "irq_restore", "unlock_irq",
                                        "restore_fl"};
  return name.starts_with("finish_task_switch") ||
         std::ranges::any_of(parts, [name](std::string_view part) {
           return name.find(part) != std::string_view::npos;
         });
}

}  // namespace

std::string interrupts_off_text(const Summary& summary) {
  const auto& unseen = summary.file.info.cannot_see;
  if (std::ranges::none_of(unseen, [](const std::string& sentence) {
        return sentence.starts_with("Code that runs with interrupts disabled");
      }))
    return {};
  std::map<std::string, uint64_t> by_name;
  for (const Leaf& leaf : summary.tree.leaves()) {
    if (!leaf.origin.kernel || leaf.ticks == 0 || leaf.origin.pid == idle_pid) continue;
    const auto symbol = static_cast<NameId>(leaf.path[static_cast<size_t>(Level::symbol)]);
    if (enables_interrupts(summary.names.text(symbol)))
      by_name[summary.names.text(symbol)] += leaf.ticks;
  }
  std::vector<std::pair<uint64_t, std::string>> rows;
  for (const auto& [name, ticks] : by_name)
    if (percent(ticks, summary.ticks.ticks) > least_percent) rows.emplace_back(ticks, name);
  if (rows.empty()) return {};
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> names;
  uint64_t ticks = 0;
  for (const auto& row : rows) {
    ticks += row.first;
    if (names.size() < most_names) names.push_back(row.second);
  }
  return fmt::format(
      "{:.0f} % of the ticks are at {}{}, where interrupts are enabled again. No tick can come "
      "before: this is the time of the code in front of it that ran with interrupts disabled. Its "
      "callers show which (run.tprof -g).",
      percent(ticks, summary.ticks.ticks), fmt::join(names, ", "),
      rows.size() > most_names ? " and others" : "");
}

}  // namespace post
