// SPDX-License-Identifier: MIT
// Compares two profiles; marks changes that may be noise.
#include "diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/significance.h"

namespace post {
namespace {

std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// Modules of the same path in both profiles are the same. Of the other ones, two with the same file
// name are also taken as the same if that is unambiguous: this compares builds.
class CommonModules {
 public:
  CommonModules(const Profile& a, const Profile& b) {
    const std::set<std::string> in_a = modules(a);
    const std::set<std::string> in_b = modules(b);
    const auto only_a = by_file_name(in_a, in_b);
    const auto only_b = by_file_name(in_b, in_a);
    for (const auto& [name, paths] : only_a) {
      const auto other = only_b.find(name);
      if (other == only_b.end() || paths.size() != 1 || other->second.size() != 1 ||
          in_a.contains(name) || in_b.contains(name))
        continue;
      common_[paths[0]] = common_[other->second[0]] = name;
      notes_.push_back(fmt::format("{} is {} in A and {} in B.", name, paths[0], other->second[0]));
    }
  }

  const std::string& name(const std::string& path) const {
    const auto found = common_.find(path);
    return found == common_.end() ? path : found->second;
  }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  static std::set<std::string> modules(const Profile& profile) {
    std::set<std::string> all;
    for (const ProfileRow& row : profile.rows) all.insert(row.module);
    return all;
  }
  static std::map<std::string, std::vector<std::string>> by_file_name(
      const std::set<std::string>& these, const std::set<std::string>& others) {
    std::map<std::string, std::vector<std::string>> names;
    for (const std::string& path : these)
      if (!others.contains(path)) names[file_name(path)].push_back(path);
    return names;
  }

  std::map<std::string, std::string> common_;
  std::vector<std::string> notes_;
};

double share(uint64_t ticks, const Profile& profile) {
  return percent(ticks, profile.ticks);
}

// name: a function that returns a row's name and, for symbols, its module.
template <class Name>
DiffTable make_table(const char* title, const Diff& diff, Name name) {
  std::map<std::pair<std::string, std::string>, std::pair<uint64_t, uint64_t>> ticks;
  for (const ProfileRow& row : diff.a.rows) ticks[name(row)].first += row.ticks;
  for (const ProfileRow& row : diff.b.rows) ticks[name(row)].second += row.ticks;
  DiffTable table{title, {}};
  for (const auto& [names, counts] : ticks) {
    const auto& [a, b] = counts;
    const double share_a = share(a, diff.a);
    const double share_b = share(b, diff.b);
    if (std::max(share_a, share_b) < diff.clip_percent) continue;
    table.rows.push_back({names.first, names.second, a, b, share_b - share_a,
                          sigmas_of_shares(a, diff.a.ticks, b, diff.b.ticks), Verdict::noise});
  }
  return table;
}

void judge(Diff& diff) {
  uint64_t rows = 0;
  for (const DiffTable& table : diff.tables) rows += table.rows.size();
  diff.noise_limit = noise_limit(rows);
  for (DiffTable& table : diff.tables) {
    for (DiffRow& row : table.rows)
      if (std::abs(row.sigmas) > diff.noise_limit)
        row.verdict = row.sigmas > 0 ? Verdict::more : Verdict::less;
    std::ranges::stable_sort(table.rows, [](const DiffRow& left, const DiffRow& right) {
      const bool noise[] = {left.verdict == Verdict::noise, right.verdict == Verdict::noise};
      if (noise[0] != noise[1]) return noise[1];
      return std::abs(left.change) > std::abs(right.change);
    });
  }
}

std::string or_unknown(const std::string& text) {
  return text.empty() ? "unknown" : text;
}

std::string number_or_unknown(uint64_t number) {
  return number == 0 ? "an unknown number of" : std::to_string(number);
}

// As a sentence.
std::string part_of(const Profile& profile) {
  return profile.selection.empty() ? "all ticks." : "part of the ticks: " + profile.selection;
}

std::vector<std::string> find_differences(const Profile& a, const Profile& b) {
  std::vector<std::string> notes;
  if (a.scope != b.scope)
    notes.push_back(
        fmt::format("The scope of A is {}, that of B is {}: their shares are of "
                    "different wholes.",
                    or_unknown(a.scope), or_unknown(b.scope)));
  if (a.source != b.source)
    notes.push_back(fmt::format("The ticks of A are from {}, those of B from {}.",
                                or_unknown(a.source), or_unknown(b.source)));
  if (a.tick_ns != b.tick_ns)
    notes.push_back(
        fmt::format("A processor's ticks are {} ns apart in A and {} ns in B: compare "
                    "shares, not ticks a second.",
                    a.tick_ns, b.tick_ns));
  if (a.events_per_tick != b.events_per_tick)
    notes.push_back(
        fmt::format("A tick is {} events in A and {} in B: compare shares, not ticks a second.",
                    number_or_unknown(a.events_per_tick), number_or_unknown(b.events_per_tick)));
  if (a.selection != b.selection)
    notes.push_back(fmt::format("A contains {} B contains {}", part_of(a), part_of(b)));
  if (a.processors != b.processors)
    notes.push_back(
        fmt::format("A has {} processors, B has {}: where idle time is counted, shares and ticks a "
                    "second depend on that.",
                    a.processors, b.processors));
  if (a.kernel != b.kernel)
    notes.push_back(
        fmt::format("A ran on kernel {}, B on {}.", or_unknown(a.kernel), or_unknown(b.kernel)));
  return notes;
}

}  // namespace

std::string incomparable(const Profile& a, const Profile& b) {
  if (a.tick == b.tick) return {};
  return fmt::format(
      "the ticks of {} count {}, those of {} count {}: shares of different events cannot be "
      "compared. Compare traces with ticks of the same event.",
      a.path, a.tick, b.path, b.tick);
}

Diff compare(const Profile& a, const Profile& b, double clip_percent) {
  Diff diff{a, b, clip_percent, 0, 0, find_differences(a, b), {}};
  if (a.tick_ns == b.tick_ns && a.events_per_tick == b.events_per_tick)
    diff.rate_sigmas = sigmas_of_rates(a.ticks, a.time_ns, b.ticks, b.time_ns);
  const CommonModules modules(a, b);
  diff.notes.insert(diff.notes.end(), modules.notes().begin(), modules.notes().end());
  using Names = std::pair<std::string, std::string>;
  diff.tables.push_back(make_table("Process", diff, [](const ProfileRow& row) {
    return Names{row.process, ""};
  }));
  diff.tables.push_back(make_table("Module", diff, [&](const ProfileRow& row) {
    return Names{modules.name(row.module), ""};
  }));
  diff.tables.push_back(make_table("Symbol", diff, [&](const ProfileRow& row) {
    return Names{row.symbol, modules.name(row.module)};
  }));
  judge(diff);
  return diff;
}

}  // namespace post
