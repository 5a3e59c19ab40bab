// SPDX-License-Identifier: MIT
// The question what changed from one part of a fleet to another, or from one time to the next.
#include <fmt/format.h>
#include <pi/printable.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/significance.h"
#include "change.h"
#include "json.h"
#include "page.h"
#include "questions.h"
#include "sql_files.h"
#include "tables.h"

namespace fleet {
namespace {

using pi::Json;

constexpr const char* compared_levels[] = {"process", "module", "function"};

struct Change {
  std::string name, module;
  Part part;
  double points = 0;  // of percent: the share in B minus that in A
  double sigmas = 0;
  bool beyond_chance = false;
};

struct Version {
  std::string name, version;  // a module and a build-id, or a kernel
  int64_t a = 0, b = 0;
  int64_t hosts_a = 0, hosts_b = 0;
};

struct Comparison {
  Whole whole;
  double limit = 0;                                                 // in sigmas
  std::vector<std::pair<std::string, std::vector<Change>>> tables;  // by level
  std::vector<Version> kernels;                                     // none if they are the same
  std::vector<Version> builds;                                      // of modules that changed
};

pi::Result<Whole> whole_of(Engine& engine) {
  const auto rows = engine.query(sql(Query::hosts));
  if (!rows) return rows.error();
  if (rows->size() != 1 || rows->front().size() != 8)
    return pi::Error{-1, "DuckDB returned no sums."};
  const auto& row = rows->front();
  return Whole{whole(row[0]), whole(row[1]),  whole(row[2]),  whole(row[3]),
               whole(row[4]), number(row[5]), number(row[6]), number(row[7])};
}

pi::Result<std::vector<Change>> changes_of(Engine& engine, const std::string& level,
                                           const Whole& all, double clip_percent) {
  const auto rows =
      engine.query(sql(Query::diff, {{"name", column_of(level)}, {"module", module_of(level)}}));
  if (!rows) return rows.error();
  std::vector<Change> changes;
  for (const auto& row : *rows) {
    const Part part{whole(row[2]),  whole(row[3]),  number(row[4]), number(row[5]), number(row[6]),
                    number(row[7]), number(row[8]), number(row[9]), number(row[10])};
    const double a = percent(part.a, all.a), b = percent(part.b, all.b);
    if (std::max(a, b) < clip_percent) continue;
    changes.push_back({text(row[0]), text(row[1]), part, b - a, sigmas_of_change(all, part)});
  }
  return changes;
}

void judge(Comparison& comparison) {
  uint64_t rows = 0;
  for (const auto& [level, changes] : comparison.tables) rows += changes.size();
  comparison.limit = post::noise_limit(rows);
  for (auto& [level, changes] : comparison.tables) {
    for (Change& change : changes)
      change.beyond_chance = std::abs(change.sigmas) > comparison.limit;
    std::ranges::stable_sort(changes, [](const Change& left, const Change& right) {
      if (left.beyond_chance != right.beyond_chance) return left.beyond_chance;
      return std::abs(left.points) > std::abs(right.points);
    });
  }
}

// The versions of each name that has other ones in A than in B.
pi::Result<std::vector<Version>> differing(Engine& engine, const char* name, const char* version,
                                           const std::function<bool(const std::string&)>& wanted) {
  const auto rows = engine.query(sql(Query::versions, {{"name", name}, {"version", version}}));
  if (!rows) return rows.error();
  std::vector<Version> found;
  std::set<std::string> differ;
  for (const auto& row : *rows) {
    Version each{text(row[0]),  text(row[1]),  whole(row[2]),
                 whole(row[3]), whole(row[4]), whole(row[5])};
    if (!wanted(each.name)) continue;
    if (each.a == 0 || each.b == 0) differ.insert(each.name);
    found.push_back(std::move(each));
  }
  std::erase_if(found, [&](const Version& each) { return !differ.contains(each.name); });
  return found;
}

// After make_views(), whose view records it replaces.
pi::Result<Comparison> compare(Engine& engine, const Question& question) {
  Comparison comparison;
  Cells cells(engine, question, true);
  const Cells::Set by_build{"module", "build_id"}, by_kernel{"kernel"};
  std::vector<Cells::Set> sets{{}, by_build, by_kernel};
  for (const char* level : compared_levels) sets.push_back(columns_of(level));
  if (const pi::Status status = cells.make(sets); !status) return status.error();
  if (const pi::Status status = cells.use({}); !status) return status.error();
  const auto all = whole_of(engine);
  if (!all) return all.error();
  comparison.whole = *all;
  if (all->a == 0 || all->b == 0)
    return pi::Error{-1, fmt::format("no tick of {} is selected; there is nothing to compare.",
                                     all->a == 0 ? "A" : "B")};
  for (const char* level : compared_levels) {
    if (const pi::Status status = cells.use(columns_of(level)); !status) return status.error();
    auto changes = changes_of(engine, level, *all, question.clip_percent);
    if (!changes) return changes.error();
    comparison.tables.emplace_back(level, std::move(*changes));
  }
  judge(comparison);
  std::set<std::string> changed;
  for (const auto& [level, changes] : comparison.tables)
    for (const Change& change : changes)
      if (change.beyond_chance && level != "process")
        changed.insert(level == "module" ? change.name : change.module);
  changed.erase("");
  if (const pi::Status status = cells.use(by_build); !status) return status.error();
  auto builds = differing(engine, "module", "build_id",
                          [&](const std::string& module) { return changed.contains(module); });
  if (!builds) return builds.error();
  comparison.builds = std::move(*builds);
  if (const pi::Status status = cells.use(by_kernel); !status) return status.error();
  auto kernels = differing(engine, "''", "kernel", [](const std::string&) { return true; });
  if (!kernels) return kernels.error();
  comparison.kernels = std::move(*kernels);
  return comparison;
}

std::string versions_text(const std::vector<Version>& versions, const Whole& all,
                          const char* heading, size_t width) {
  if (versions.empty()) return {};
  std::string out =
      fmt::format("\n{:>7} {:>6} {:>7} {:>6}  {}\n", "HOSTS A", "A %", "HOSTS B", "B %", heading);
  for (const Version& each : versions) {
    const std::string numbers =
        fmt::format("{:>7} {:>6.2f} {:>7} {:>6.2f}  ", each.hosts_a, percent(each.a, all.a),
                    each.hosts_b, percent(each.b, all.b));
    const std::string version = each.version.empty() ? "(unknown)" : each.version;
    out +=
        numbers +
        (each.name.empty() ? shown_at_end(version, "", "kernel", numbers.size(), width)
                           : shown_at_end(each.name, version, "version", numbers.size(), width)) +
        "\n";
  }
  return out;
}

std::string ticks_of_hosts(int64_t ticks, int64_t hosts) {
  return fmt::format("{} ticks of {} {}", ticks, hosts, hosts == 1 ? "host" : "hosts");
}

std::string text_of(const Comparison& comparison, const Question& question) {
  const Whole& all = comparison.whole;
  const size_t lines = question.lines, width = question.width;
  std::string out =
      fact_line("A", ticks_of_hosts(all.a, all.hosts_a), width) +
      fact_line("B", ticks_of_hosts(all.b, all.hosts_b), width) +
      fact_line("CHANGE", "share in B minus share in A, in points of percent", width) +
      fact_line(
          "z",
          fmt::format("that in standard deviations; rows within {:.1f}, marked ~, can be chance",
                      comparison.limit),
          width);
  for (const auto& [level, changes] : comparison.tables) {
    out += fmt::format("\n{:>7} {:>6} {:>6} {:>7}       {}\n", "CHANGE", "A %", "B %", "z", level);
    size_t chance = 0;
    for (const Change& change : changes) {
      if (!change.beyond_chance && lines != 0 && chance++ == lines) break;
      const std::string numbers =
          fmt::format("{:>+7.2f} {:>6.2f} {:>6.2f} {:>+7.1f} {:<4}  ", change.points,
                      percent(change.part.a, all.a), percent(change.part.b, all.b), change.sigmas,
                      change.beyond_chance ? (change.points > 0 ? "more" : "less") : "~");
      out +=
          numbers + shown_at_end(change.name, change.module, level, numbers.size(), width) + "\n";
    }
  }
  return out + versions_text(comparison.builds, all, "module and build of what changed", width) +
         versions_text(comparison.kernels, all, "kernel", width);
}

// Rows beyond chance come first.
post::HtmlTable page_table(const Comparison& comparison, const std::string& level,
                           const std::vector<Change>& changes) {
  const Whole& all = comparison.whole;
  post::HtmlTable table;
  table.title = "Changes by " + level;
  table.facts = {{"Beyond chance", fmt::format("rows whose z is beyond {:.1f}", comparison.limit)}};
  table.columns = {"A %", "B %", "z", "change in points"};
  table.with_below = table.columns.size();
  for (const Change& change : changes)
    table.rows.push_back({0,
                          change.module.empty() ? shown(change.name, level)
                                                : shown(change.name, level) + "  " + change.module,
                          {percent(change.part.a, all.a), percent(change.part.b, all.b),
                           change.sigmas, change.points}});
  post::shorten_table(table, post::max_table_rows);
  return table;
}

Json json_of(const Comparison& comparison) {
  const Whole& all = comparison.whole;
  Json json = {{"schema_version", schema_version},
               {"a", {{"ticks", all.a}, {"hosts", all.hosts_a}}},
               {"b", {{"ticks", all.b}, {"hosts", all.hosts_b}}},
               {"noise_limit", comparison.limit}};
  for (const auto& [level, changes] : comparison.tables) {
    Json rows = Json::array();
    for (const Change& change : changes) {
      Json row = {{"name", change.name},
                  {"a", change.part.a},
                  {"b", change.part.b},
                  {"change", change.points},
                  {"z", change.sigmas},
                  {"verdict", !change.beyond_chance ? "noise"
                              : change.points > 0   ? "more"
                                                    : "less"}};
      if (module_of(level) == "module") row["module"] = change.module;
      rows.push_back(std::move(row));
    }
    json[level] = std::move(rows);
  }
  for (const auto& [name, versions] :
       {std::pair("builds", &comparison.builds), std::pair("kernels", &comparison.kernels)}) {
    Json rows = Json::array();
    for (const Version& each : *versions)
      rows.push_back({{"module", each.name},
                      {"version", each.version},
                      {"a", each.a},
                      {"b", each.b},
                      {"hosts_a", each.hosts_a},
                      {"hosts_b", each.hosts_b}});
    json[name] = std::move(rows);
  }
  return json;
}

}  // namespace

pi::Result<Answer> diff(Engine& engine, const Question& question) {
  Answer answer;
  if (const pi::Status status = make_views(engine, question, true, answer.warnings); !status)
    return status.error();
  const auto summary = summarize(engine, answer);
  const auto comparison = compare(engine, question);
  if (!comparison) return comparison.error();
  if (!summary) return summary.error();
  if (!hosts_suffice(comparison->whole))
    answer.warnings.push_back(
        "A and B need two hosts each to show how much hosts differ by chance: here only ticks are "
        "compared.");
  if (!question.html.empty()) {
    PageFacts facts = page_facts(question, *summary, answer);
    for (const auto& [level, changes] : comparison->tables)
      facts.tables.push_back(page_table(*comparison, level, changes));
    const pi::Status status = write_page(engine, question, true, facts, answer);
    return status ? pi::Result<Answer>(answer) : status.error();
  }
  answer.text =
      question.json ? json_of(*comparison).dump(1) + "\n" : text_of(*comparison, question);
  return answer;
}

}  // namespace fleet
