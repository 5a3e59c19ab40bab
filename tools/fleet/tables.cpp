// SPDX-License-Identifier: MIT
// What questions have in common: the view of the selected rows, and facts about them.
#include "tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pi/printable.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <vector>

#include "days.h"
#include "overlaps.h"
#include "schemas.h"
#include "sql_files.h"
#include "text/columns.h"
#include "text/short_name.h"

namespace fleet {
namespace {

pi::Status run(Engine& engine, const std::string& text) {
  const auto rows = engine.query(text);
  return rows ? pi::Status() : rows.error();
}

// How a function of a table called source gets a name of pitrace-fleet resolve, if there are any.
struct Naming {
  std::string named;
  std::string join;  // empty: there are none
};

Naming naming_of(const Question& question, const char* column) {
  Naming naming{fmt::format("shown(source.{}, source.module, source.address)", column), ""};
  std::error_code problem;
  if (!std::filesystem::exists(names_file(question.folder), problem)) return naming;
  naming.named = fmt::format("COALESCE(names.function, {})", naming.named);
  naming.join =
      "LEFT JOIN names ON names.build_id = source.build_id AND names.address = source.address";
  return naming;
}

// The columns of a set as they are in the tables.
Cells::Set raw_columns(const Cells::Set& set, bool with_names) {
  Cells::Set raw;
  for (const std::string& column : set) {
    if (column != "function") {
      raw.push_back(column);
      continue;
    }
    raw.insert(raw.end(), {"raw", "address"});
    if (with_names) raw.emplace_back("build_id");
  }
  return raw;
}

// Runs a query of files in the folder.
pi::Status make_tables(Engine& engine, Query query, const Question& question,
                       const std::string& source = {}) {
  const std::string folder = literal(question.folder), file = names_file(question.folder);
  const Naming naming = naming_of(question, "function");
  if (!naming.join.empty())
    if (const pi::Status status = check_names(engine, question); !status) return status;
  const std::string none =
      "(SELECT '' AS build_id, CAST(0 AS BIGINT) AS address, '' AS function WHERE FALSE)";
  return run(
      engine,
      sql(query,
          {{"folder", folder.substr(1, folder.size() - 2)},
           {"names", naming.join.empty() ? none : fmt::format("read_parquet({})", literal(file))},
           {"named", naming.named},
           {"join", naming.join},
           {"source", source},
           {"dates", dates(question.period)}}));
}

// What A and B are, apart from times. If only one of them is described, the other one is the rest.
pi::Result<std::pair<std::string, std::string>> conditions_of_sides(const Question& question) {
  auto a = condition(question.a), b = condition(question.b);
  if (!a) return a.error();
  if (!b) return b.error();
  const auto rest = [](const std::string& test) {
    return fmt::format("NOT COALESCE({}, FALSE)", test);
  };
  if (question.at == Period::open_end && question.b.empty()) b = rest(*a);
  if (question.at == Period::open_end && question.a.empty()) a = rest(*b);
  return std::pair(std::move(*a), std::move(*b));
}

// Makes a view of the selected rows of another one, with their sides.
pi::Status make_selection(Engine& engine, const Question& question, bool two_sides,
                          const char* view, const char* of) {
  const auto where = condition(question.where);
  if (!where) return where.error();
  const auto all_of = [&](const Period& period, const std::string& more) {
    return fmt::format("{} AND ({}) AND ({})", condition(period), *where, more);
  };
  const auto select = [of](const char* side, const std::string& test) {
    return fmt::format("SELECT '{}' AS side, * FROM {} WHERE {}", side, of, test);
  };
  const std::string make = fmt::format("CREATE VIEW {} AS ", view);
  if (!two_sides) return run(engine, make + select("A", all_of(question.period, "TRUE")));
  const auto sides = conditions_of_sides(question);
  if (!sides) return sides.error();
  const auto& [a, b] = *sides;
  Period before = question.period, after = question.period;
  if (question.at != Period::open_end) {
    before.until = std::min(before.until, question.at);
    after.since = std::max(after.since, question.at);
  }
  const std::string of_a = all_of(before, a);
  // A loss counts once.
  return run(engine, make + select("A", of_a) + " UNION ALL " +
                         select("B", fmt::format("{} AND (kind <> 'lost' OR NOT ({}))",
                                                 all_of(after, b), of_a)));
}

// Ticks can be in A and in B.
pi::Status warn_of_both(Engine& engine, const Question& question,
                        std::vector<std::string>& warnings) {
  if (question.a.empty() || question.b.empty() || question.at != Period::open_end) return {};
  const auto where = condition(question.where);
  const auto sides = conditions_of_sides(question);
  if (!where) return where.error();
  if (!sides) return sides.error();
  const auto rows = engine.query(fmt::format(
      "SELECT CAST(COALESCE(SUM(count), 0) AS BIGINT) FROM all_records WHERE kind = 'tick' AND {} "
      "AND ({}) AND ({}) AND ({})",
      condition(question.period), *where, sides->first, sides->second));
  if (!rows) return rows.error();
  if (const int64_t both = rows->empty() ? 0 : whole(rows->front()[0]); both != 0)
    warnings.push_back(
        fmt::format("{} ticks are in A and in B. (Processes of one name in one trace are not told "
                    "apart: of two builds of a program, all their ticks are on both sides.)",
                    both));
  return {};
}

std::string list_of(const std::vector<std::string>& files) {
  std::string list;
  for (const std::string& file : files) list += (list.empty() ? "[" : ", ") + literal(file);
  return list + "]";
}

// DuckDB leaves out folders that it cannot read.
pi::Result<bool> has_tables(const std::string& folder, const Period& period) {
  bool found = false;
  std::error_code problem;
  const std::string records = folder + "/records";
  if (!std::filesystem::exists(records, problem)) return found;
  const auto status =
      each_day(records, dates_of(period), [&](const std::string& host_day, const std::string&) {
        const std::string path = records + "/" + host_day;
        std::filesystem::directory_iterator at(path, problem);
        if (problem)
          return pi::Status(pi::Error{
              problem.value(),
              fmt::format("cannot read {}: {}.", pi::printable(path), problem.message())});
        for (; !found && !problem && at != std::filesystem::directory_iterator();
             at.increment(problem))
          found = at->path().filename().string().ends_with(".parquet");
        return pi::Status();
      });
  if (!status) return status.error();
  return found;
}

// The rows of all sources, as SQL.
std::string source_of(const Sources& sources, const Period& period) {
  // The columns that both kinds of tables have.
  const char* const columns =
      sources.days.empty() ? "*"
                           : "time, date, host, kernel, kind, process, service, module, build_id, "
                             "function, address, mode, count, amount, unit";
  std::string all;
  for (const auto& [query, files] :
       {std::pair(Query::source, &sources.records), std::pair(Query::source_days, &sources.days)})
    if (!files->empty())
      all +=
          (all.empty() ? "" : "UNION ALL\n") +
          sql(query, {{"columns", columns}, {"files", list_of(*files)}, {"dates", dates(period)}});
  return all;
}

// Makes the views all_records and names.
pi::Status make_record_view(Engine& engine, const Question& question,
                            std::vector<std::string>& warnings) {
  if (const pi::Status status = check_folder(question.folder); !status) return status;
  const auto sources = sources_of(engine, question);
  if (!sources) return sources.error();
  const auto tables = has_tables(question.folder, question.period);
  if (!tables) return tables.error();
  if (!*tables && sources->days.empty() && sources->missing == 0)
    return pi::Error{-1, condition(question.period) == "TRUE"
                             ? pi::printable(question.folder) + "/records has no table."
                             : "no tick is selected: no table is of the days of --since and "
                               "--until."};
  if (*tables)
    if (const pi::Status status = check_schemas(engine, question, *sources, warnings); !status)
      return status;
  if (sources->records.empty() && sources->days.empty())
    return pi::Error{-1, "no table is of that time, or has what the question needs."};
  if (sources->missing != 0)
    warnings.push_back(
        fmt::format("{} days of hosts are left out: they have sums by day only, of another "
                    "version, or the question needs more.",
                    sources->missing));
  if (sources->removed != 0)
    warnings.push_back(
        fmt::format("of {} days of hosts tables were removed after their sums were written: the "
                    "question needs more than the sums, and is answered without these tables.",
                    sources->removed));
  if (sources->mixed != 0) warnings.push_back(mixed_warning(sources->mixed));
  if (sources->stale != 0)
    warnings.push_back(
        fmt::format("the traces of {} days of hosts have changed since their sums "
                    "were written: pitrace-fleet compact makes them fast again.",
                    sources->stale));
  if (const auto hosts = overlaps_of(engine, question, *sources); !hosts.empty())
    warnings.push_back(overlap_warning(hosts));
  return make_tables(engine, Query::duckdb, question, source_of(*sources, question.period));
}

}  // namespace

// The files are found by a pattern, in which these characters have a meaning.
pi::Status check_folder(const std::string& folder) {
  if (!fits_pattern(folder))
    return pi::Error{-1, fmt::format("the name of the folder {} has a control character, or one "
                                     "that is a wildcard for DuckDB: use a link without it.",
                                     pi::printable(folder))};
  // As in date=2026-11-29.
  if (folder.find('=') != folder.npos)
    return pi::Error{-1, fmt::format("the name of the folder {} has a =: for DuckDB such a part is "
                                     "a column. Use a relative name, or a link without it.",
                                     pi::printable(folder))};
  std::error_code problem;
  // A pipe would be read for ever.
  const auto names = std::filesystem::status(names_file(folder), problem);
  if (std::filesystem::exists(names) && !std::filesystem::is_regular_file(names))
    return pi::Error{-1,
                     fmt::format("{} is not a regular file.", pi::printable(names_file(folder)))};
  if (!std::filesystem::exists(folder, problem))
    return pi::Error{-1, fmt::format("there is no folder {}.", pi::printable(folder))};
  if (!std::filesystem::is_directory(folder + "/records", problem) &&
      !std::filesystem::is_directory(folder + "/days", problem))
    return pi::Error{-1, fmt::format("{} is no folder of post --fleet: it has no folder records.",
                                     pi::printable(folder))};
  return {};
}

std::string names_file(const std::string& folder) {
  return folder + "/names.parquet";
}

pi::Status make_stack_view(Engine& engine, const Question& question) {
  std::vector<std::string> ignored;
  if (const pi::Status status = make_record_view(engine, question, ignored); !status) return status;
  return make_tables(engine, Query::duckdb_paths, question);
}

pi::Status make_path_view(Engine& engine, const Question& question, bool two_sides) {
  if (const pi::Status status = make_tables(engine, Query::duckdb_paths, question); !status)
    return status;
  return make_selection(engine, question, two_sides, "path_records", "all_paths");
}

pi::Status make_views(Engine& engine, const Question& question, bool two_sides,
                      std::vector<std::string>& warnings) {
  if (const pi::Status status = make_record_view(engine, question, warnings); !status)
    return status;
  if (two_sides)
    if (const pi::Status status = warn_of_both(engine, question, warnings); !status) return status;
  return make_selection(engine, question, two_sides, "records", "all_records");
}

pi::Status Cells::make(const std::vector<Set>& sets) {
  columns_.clear();
  const Naming naming = naming_of(question_, "raw");
  with_names_ = !naming.join.empty();
  // Constants and what decides nothing take time, too.
  const std::string whole = two_sides_ ? "side, host" : "host";
  std::string lists;
  for (const Set& given : sets) {
    const Set set = raw_columns(given, with_names_);
    lists += fmt::format("{}({}{}{})", lists.empty() ? "" : ", ", whole, set.empty() ? "" : ", ",
                         fmt::join(set, ", "));
    for (const std::string& column : set)
      if (std::ranges::find(columns_, column) == columns_.end()) columns_.push_back(column);
  }
  if (columns_.empty()) {  // GROUPING() needs a column
    columns_.emplace_back("kernel");
    lists += fmt::format(", ({}, kernel)", whole);
  }
  const bool functions = std::ranges::find(columns_, "raw") != columns_.end();
  return run(engine_,
             sql(Query::cells, {{"whole", whole},
                                {"columns", fmt::format("{}", fmt::join(columns_, ", "))},
                                {"sets", lists},
                                {"function", functions ? ", " + naming.named + " AS function" : ""},
                                {"join", functions ? naming.join : ""}}));
}

pi::Status Cells::use(const Set& set) {
  const Set raw = raw_columns(set, with_names_);
  uint64_t level = 0;
  for (const std::string& column : columns_)
    level = 2 * level + (std::ranges::find(raw, column) == raw.end() ? 1 : 0);
  return run(engine_, fmt::format("CREATE OR REPLACE VIEW records AS SELECT * FROM cells WHERE "
                                  "level = {}",
                                  level));
}

Cells::Set columns_of(const std::string& level) {
  Cells::Set columns;
  if (level != "host") columns.push_back(column_of(level));
  if (module_of(level) == "module") columns.emplace_back("module");
  return columns;
}

pi::Result<Summary> summarize(Engine& engine, Answer& answer) {
  const auto rows = engine.query(sql(Query::summary));
  if (!rows) return rows.error();
  if (rows->size() != 1 || rows->front().size() != 9)
    return pi::Error{-1, "DuckDB returned no summary."};
  const auto& row = rows->front();
  const Summary summary{whole(row[0]), whole(row[1]), whole(row[2]), whole(row[3]),
                        whole(row[4]), whole(row[5]), whole(row[7]), whole(row[8])};
  if (whole(row[6]) < 0)
    return pi::Error{Engine::failed, "a table has a negative number of ticks."};
  if (summary.ticks == 0) return pi::Error{-1, "no tick is selected; there is nothing to report."};
  if (summary.lost != 0)
    answer.warnings.push_back(fmt::format("{} records were lost on the hosts.", summary.lost));
  if (summary.kinds > 1)
    answer.warnings.push_back(fmt::format(
        "the ticks are of {} kinds: they count different events, or time at different rates. "
        "Their sums and shares mean little.",
        summary.kinds));
  return summary;
}

std::string period_text(const Summary& summary) {
  return fmt::format("{} to {} UTC, when the first and the last row begin",
                     time_text(summary.first_micros), time_text(summary.last_micros));
}

std::string ticks_text(const Summary& summary) {
  if (summary.idle == 0) return std::to_string(summary.ticks);
  return fmt::format("{}, of which {} idle (SystemProcess); shares are of all", summary.ticks,
                     summary.idle);
}

std::optional<std::string> missing_paths(int64_t in_paths, int64_t selected,
                                         const Question& question) {
  if (in_paths == selected) return std::nullopt;
  if (in_paths > selected)
    return fmt::format(
        "call paths have {} ticks, {} are selected: a table of paths is there twice, or does not "
        "belong to those of records.",
        in_paths, selected);
  bool of_functions = false;
  for (const auto* words : {&question.where, &question.a, &question.b})
    for (const std::string& key : keys_of(*words))
      of_functions |= key == "function" || key == "module";
  return fmt::format(
      "{} of {} ticks are left out: {}the tables paths, stacks and frames do not have "
      "them.",
      selected - in_paths, selected,
      of_functions ? "in call paths their function is [rare] (post --rare), or " : "");
}

std::string time_text(int64_t micros) {
  using namespace std::chrono;
  const sys_time<seconds> time = floor<seconds>(sys_time<microseconds>(microseconds(micros)));
  const year_month_day date(floor<days>(time));
  const hh_mm_ss clock(time - floor<days>(time));
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

double percent(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

bool is_level(const std::string& word) {
  const std::string all = fmt::format("|{}|", levels);
  return word.find('|') == word.npos && all.find("|" + word + "|") != all.npos;
}

std::string column_of(const std::string& level) {
  return level == "build" ? "build_id" : level;
}

std::string module_of(const std::string& level) {
  return level == "function" || level == "build" ? "module" : "''";
}

std::string shown(const std::string& name, const std::string& level) {
  if (!name.empty()) return pi::printable(name);
  return level == "function" ? "NoSymbols" : level == "module" ? "NoModule" : "(unknown)";
}

std::string shown_at_end(const std::string& name, const std::string& module,
                         const std::string& level, size_t before, size_t width) {
  constexpr std::string_view mark = "..";
  constexpr size_t gap = 2, least = 8, least_of_both = 20;
  std::string left = shown(name, level), right = pi::printable(module);
  const auto joined = [&] { return right.empty() ? left : left + "  " + right; };
  if (width == 0) return joined();
  const size_t space = std::max(width, before + least) - before;
  if (post::columns_of(joined()) <= space) return joined();
  if (level == "module") return post::shortened(left, space, mark);
  if (space < least_of_both) right.clear();
  // A path says most at its end.
  if (post::columns_of(right) > space / 3) right = right.substr(right.rfind('/') + 1);
  right = post::shortened(right, space / 3, mark);
  const size_t used = right.empty() ? 0 : post::columns_of(right) + gap;
  left = level == "function" ? post::short_name(left, space - used, mark)
                             : post::shortened(left, space - used, mark);
  return joined();
}

std::string fact_line(const char* name, const std::string& text, size_t width) {
  constexpr size_t before = 12;
  std::string out;
  std::string_view head = name;
  // The lines of a paragraph after the first one are indented.
  for (const std::string& line :
       width == 0 ? std::vector<std::string>{text}
                  : post::paragraph_lines(text, std::max<size_t>(width, before + 20) - before)) {
    const size_t begin = std::min(line.find_first_not_of(' '), line.size());
    out += head.empty() ? fmt::format("{:{}}{}\n", "", before, line.substr(begin))
                        : fmt::format(" {:<9}: {}\n", head, line.substr(begin));
    head = {};
  }
  return out;
}

}  // namespace fleet
