// SPDX-License-Identifier: MIT
// The ticks of one trace by names that are the same in other traces: processes without ids.
#include "profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "report/completeness.h"
#include "text/labels.h"

namespace post {
namespace {

auto names_of(const ProfileRow& row) {
  return std::tie(row.process, row.module, row.symbol);
}

}  // namespace

double Profile::rate(uint64_t part) const {
  return time_ns == 0 ? 0 : static_cast<double>(part) * 1e9 / static_cast<double>(time_ns);
}

void unite_rows(std::vector<ProfileRow>& rows) {
  std::ranges::sort(
      rows, [](const ProfileRow& a, const ProfileRow& b) { return names_of(a) < names_of(b); });
  size_t kept = 0;
  for (size_t i = 1; i < rows.size(); ++i) {
    if (names_of(rows[i]) == names_of(rows[kept]))
      rows[kept].ticks += rows[i].ticks;
    else if (++kept != i)
      rows[kept] = std::move(rows[i]);
  }
  if (!rows.empty()) rows.resize(kept + 1);
}

Profile make_profile(const Summary& summary, std::string path) {
  Profile profile;
  profile.path = std::move(path);
  profile.ticks = summary.ticks.ticks;
  profile.time_ns = summary.ticks.last_time - summary.ticks.first_time;
  profile.tick_ns = tick_distance(summary);
  profile.no_module = summary.ticks.no_module;
  profile.no_symbol = summary.ticks.no_symbol;
  profile.processors = summary.file.cpus;
  profile.tick = summary.event_based() ? event_name(summary) : "time";
  profile.source = summary.file.info.source;
  profile.scope = summary.file.info.scope;
  profile.kernel = summary.file.info.kernel;
  profile.selection = fmt::format("{}", fmt::join(selection_texts(summary.options.selection), " "));
  profile.events_per_tick = summary.event_based() ? events_per_tick(summary) : 0;
  profile.lacks = loss_sentences(summary.file, summary.losses);
  if (summary.damage.any())
    profile.lacks.push_back(
        {"Damaged", fmt::format("in {} places ({} bytes not used).", summary.damage.places(),
                                summary.damage.bytes())});
  profile.symbol_notes = summary.symbol_notes;
  profile.damaged = is_damaged(summary.file, summary.damage);
  profile.missing = what_is_missing(summary.file, summary.losses);
  const auto name = [&](const Leaf& leaf, Level level) -> const std::string& {
    return summary.names.text(static_cast<NameId>(leaf.path[static_cast<size_t>(level)]));
  };
  for (const Leaf& leaf : summary.tree.leaves())
    if (leaf.ticks != 0)
      profile.rows.push_back({process_base_name(name(leaf, Level::process), summary.options.labels),
                              name(leaf, Level::module), name(leaf, Level::symbol), leaf.ticks});
  unite_rows(profile.rows);
  return profile;
}

}  // namespace post
