// SPDX-License-Identifier: MIT
// The questions about one selection of a fleet's ticks: report, top, flame.
#include "questions.h"

#include <fmt/format.h>
#include <pi/printable.h>

#include <functional>
#include <optional>

#include "call_paths.h"
#include "json.h"
#include "page.h"
#include "sql_files.h"
#include "tables.h"

namespace fleet {
namespace {

using pi::Json;

struct Line {
  std::string name, module;
  int64_t ticks = 0;
  int64_t hosts = 0;
};

pi::Result<std::vector<Line>> lines_of(Engine& engine, const std::string& level) {
  const auto found =
      engine.query(sql(Query::top, {{"name", column_of(level)}, {"module", module_of(level)}}));
  if (!found) return found.error();
  std::vector<Line> rows;
  for (const auto& row : *found)
    rows.push_back({text(row[0]), text(row[1]), whole(row[2]), whole(row[3])});
  return rows;
}

std::string facts(const Summary& summary, size_t width) {
  return fact_line("Hosts", fmt::format("{} (kernels: {})", summary.hosts, summary.kernels),
                   width) +
         fact_line("Time", period_text(summary), width) +
         fact_line("Ticks", ticks_text(summary), width) +
         fact_line("Lost", fmt::format("{}", summary.lost), width);
}

Json facts_json(const Summary& summary) {
  return {{"schema_version", schema_version},
          {"hosts", summary.hosts},
          {"kernels", summary.kernels},
          {"first", time_text(summary.first_micros)},
          {"last", time_text(summary.last_micros)},
          {"ticks", summary.ticks},
          {"lost", summary.lost}};
}

std::string table(const std::vector<Line>& rows, const std::string& level, const Summary& summary,
                  const Question& question) {
  const size_t lines = question.lines;
  std::string out = fmt::format("\n{:>12} {:>6}  {:>5}  {}\n", "TICKS", "%", "HOSTS", level);
  size_t shown_rows = 0;
  for (const Line& row : rows) {
    if (lines != 0 && shown_rows++ == lines) {
      out += fmt::format("{:>12} {:>6}  {:>5}  ({} more)\n", "", "", "", rows.size() - lines);
      break;
    }
    const std::string numbers = fmt::format("{:>12} {:>6.2f}  {:>5}  ", row.ticks,
                                            percent(row.ticks, summary.ticks), row.hosts);
    out +=
        numbers + shown_at_end(row.name, row.module, level, numbers.size(), question.width) + "\n";
  }
  return out;
}

Json table_json(const std::vector<Line>& rows, const std::string& level) {
  Json out = Json::array();
  for (const Line& row : rows) {
    Json each = {{"name", row.name}, {"ticks", row.ticks}, {"hosts", row.hosts}};
    if (module_of(level) == "module") each["module"] = row.module;
    out.push_back(std::move(each));
  }
  return out;
}

post::HtmlTable page_table(const std::vector<Line>& rows, const std::string& level) {
  post::HtmlTable table;
  table.title = "Ticks by " + level;
  table.columns = {"hosts", "ticks"};
  table.with_below = table.columns.size();
  for (const Line& row : rows)
    table.rows.push_back(
        {0,
         row.module.empty() ? shown(row.name, level) : shown(row.name, level) + "  " + row.module,
         {static_cast<double>(row.hosts), static_cast<double>(row.ticks)}});
  post::shorten_table(table, post::max_table_rows);
  return table;
}

// Passes on a table by each level, of the selected rows, which are read once. For one table the
// sums for several of them take longer than they save.
pi::Status each_table(
    Engine& engine, const Question& question, const std::vector<std::string>& levels,
    const std::function<void(const std::string&, const std::vector<Line>&)>& take) {
  Cells cells(engine, question, false);
  const bool several = levels.size() > 1;
  std::vector<Cells::Set> sets;
  for (const std::string& level : levels) sets.push_back(columns_of(level));
  if (pi::Status status = several ? cells.make(sets) : pi::Status(); !status) return status;
  for (const std::string& level : levels) {
    if (pi::Status status = several ? cells.use(columns_of(level)) : pi::Status(); !status)
      return status;
    const auto rows = lines_of(engine, level);
    if (!rows) return rows.error();
    take(level, *rows);
  }
  return {};
}

// The page has the functions itself.
pi::Result<Answer> page_of(Engine& engine, const Question& question) {
  Answer answer;
  if (const pi::Status status = make_views(engine, question, false, answer.warnings); !status)
    return status.error();
  const auto summary = summarize(engine, answer);
  if (!summary) return summary.error();
  PageFacts facts = page_facts(question, *summary, answer);
  const pi::Status tables =
      each_table(engine, question, {"host", "kernel", "service"},
                 [&](const std::string& level, const std::vector<Line>& rows) {
                   facts.tables.push_back(page_table(rows, level));
                 });
  if (!tables) return tables.error();
  if (const pi::Status status = write_page(engine, question, false, facts, answer); !status)
    return status.error();
  return answer;
}

pi::Result<Answer> tables_of(Engine& engine, const Question& question,
                             const std::vector<std::string>& of) {
  Answer answer;
  if (const pi::Status status = make_views(engine, question, false, answer.warnings); !status)
    return status.error();
  const auto summary = summarize(engine, answer);
  if (!summary) return summary.error();
  Json json = facts_json(*summary);
  Json tables = Json::object();
  if (!question.json) answer.text = facts(*summary, question.width);
  const pi::Status status = each_table(
      engine, question, of, [&](const std::string& level, const std::vector<Line>& rows) {
        if (question.json)
          tables[level] = table_json(rows, level);
        else
          answer.text += table(rows, level, *summary, question);
      });
  if (!status) return status.error();
  json["by"] = std::move(tables);
  if (question.json) answer.text = json.dump(1) + "\n";
  return answer;
}

}  // namespace

pi::Result<Answer> report(Engine& engine, const Question& question) {
  if (!question.html.empty()) return page_of(engine, question);
  return tables_of(engine, question,
                   {"host", "kernel", "service", "process", "module", "function"});
}

pi::Result<Answer> top(Engine& engine, const Question& question) {
  return tables_of(engine, question, {question.by});
}

pi::Status read_call_paths(Engine& engine, const Question& question, CallPaths& paths) {
  if (const pi::Status status = make_path_view(engine, question, false); !status) return status;
  const pi::Status status = engine.each(sql(Query::stacks), [&](const Row& row) {
    const auto* const caller = std::get_if<int64_t>(&row[2]);
    return paths.add_stack(text(row[0]), whole(row[1]),
                           caller ? std::optional(*caller) : std::nullopt,
                           text(row[3]) + text(row[4]));
  });
  if (!status) return status;
  return engine.each(sql(Query::paths), [&](const Row& row) {
    return paths.add_ticks(text(row[0]), whole(row[1]), text(row[2]), whole(row[3]));
  });
}

pi::Result<Answer> flame(Engine& engine, const Question& question) {
  if (!question.html.empty()) return page_of(engine, question);
  Answer answer;
  if (const pi::Status status = make_views(engine, question, false, answer.warnings); !status)
    return status.error();
  const auto summary = summarize(engine, answer);
  if (!summary) return summary.error();
  CallPaths paths;
  if (const pi::Status status = read_call_paths(engine, question, paths); !status)
    return status.error();
  int64_t ticks = 0;
  for (const CallPaths::Row& row : paths.rows()) {
    ticks += row.ticks;
    std::string process = shown(pi::printable(row.process), "process");
    for (size_t at = 0; (at = process.find(';', at)) != process.npos; at += 4)
      process.replace(at, 1, "\\x3b");
    answer.text += fmt::format("{};{} {}\n", process, pi::printable(row.path), row.ticks);
  }
  if (const auto missing = missing_paths(ticks, summary->ticks, question))
    answer.warnings.push_back(*missing);
  return answer;
}

}  // namespace fleet
