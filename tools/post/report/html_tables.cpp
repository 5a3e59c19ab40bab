// SPDX-License-Identifier: MIT
// Tables of other programs that the HTML page also shows: call trees of a log-rt, counts of PTT.
#include "html_tables.h"

#include <call_flow.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "html_ai_table.h"
#include "html_jvm_tables.h"
#include "json.h"
#include "table_json.h"
#include "text/text.h"
#include "text_file.h"

namespace post {
namespace {

using pi::Json;

// ---- call trees
// ----------------------------------------------------------------------------------

HtmlTable table_of(const logrt::CallFlow& flow) {
  HtmlTable table;
  const bool has_metric = !flow.metric.empty();
  const std::string unit = printable(flow.unit);
  table.title = has_metric ? fmt::format("Call trees: {}", printable(flow.metric)) : "Call trees";
  table.facts.push_back({"Threads", std::to_string(flow.threads)});
  if (has_metric) {
    table.facts.push_back({"Unit", unit});
    table.facts.push_back(
        {"Error bound", flow.calibrated
                            ? fmt::format("{} {} of a call or a return", flow.error_bound, unit)
                            : "not known: the cost of the probes is not subtracted"});
  }
  if (!flow.lost.empty()) table.facts.push_back({"Lost", flow.lost});
  table.columns = {"calls"};
  if (has_metric)
    table.columns.insert(table.columns.end(), {"itself", "error bound", "with calls"});
  table.with_below = has_metric ? 3 : 1;
  size_t thread = 0;
  for (const logrt::Node& node : flow.nodes) {
    HtmlTable::Row row{
        node.level,
        node.level == 0 ? fmt::format("thread {}", ++thread) : printable(flow.names[node.name]),
        {static_cast<double>(node.calls)}};
    if (has_metric) {
      row.cells.push_back(static_cast<double>(node.base));
      row.cells.push_back(2 * flow.error_bound * static_cast<double>(node.calls));
    }
    table.rows.push_back(std::move(row));
  }
  if (has_metric) add_sums_below(table, 1);
  return table;
}

// ---- PTT
// -----------------------------------------------------------------------------------------

// Dispatches, interrupts, and the value of each metric.
std::vector<double> counts_of(const Json& json, const std::vector<std::string>& metrics) {
  std::vector<double> cells{number(json, "dispatches"), number(json, "interrupts")};
  const Json& values = member(json, "values");
  for (const std::string& metric : metrics) cells.push_back(number(values, metric.c_str()));
  return cells;
}

// The first `columns` of them.
void add(std::vector<double>& sums, const std::vector<double>& cells, size_t columns = SIZE_MAX) {
  sums.resize(cells.size());
  for (size_t i = 0; i < std::min(columns, cells.size()); ++i)
    if (!std::isnan(cells[i])) sums[i] += cells[i];
}

HtmlTable table_of_ptt(const Json& json) {
  HtmlTable table;
  table.title = "PTT: counts of each thread";
  std::vector<std::string> metrics;
  for (const Json& metric : member(json, "metrics").elements()) {
    const std::string* name = metric.text();
    if (name == nullptr) throw std::runtime_error("a metric has no name");
    metrics.push_back(*name);
  }
  table.columns = {"dispatches", "interrupts"};
  for (const std::string& metric : metrics) table.columns.push_back(printable(metric));
  std::map<double, std::string> names;
  for (const Json& process : member(json, "processes").elements())
    names[number(process, "pid")] = text_of(process, "name");
  std::map<double, std::vector<HtmlTable::Row>> processes;
  for (const Json& thread : member(json, "threads").elements())
    processes[number(thread, "pid")].push_back(
        {1, fmt::format("{}:{}", text_of(thread, "name"), number(thread, "tid")),
         counts_of(thread, metrics)});
  for (auto& [pid, threads] : processes) {
    HtmlTable::Row row{0, fmt::format("{}:{}", names[pid], pid), {}};
    for (const HtmlTable::Row& thread : threads) add(row.cells, thread.cells);
    table.rows.push_back(std::move(row));
    std::move(threads.begin(), threads.end(), std::back_inserter(table.rows));
  }
  for (const auto& [name, text] : {std::pair("ended_threads", "[threads that have ended]"),
                                   {"threads_without_account", "[threads without an account]"}})
    table.rows.push_back({0, text, counts_of(member(json, name), metrics)});
  return table;
}

// Browsers follow the levels by recursion.
void limit_levels(HtmlTable& table) {
  constexpr uint32_t max_level = 1000;
  bool deeper = false;
  for (HtmlTable::Row& row : table.rows) {
    deeper = deeper || row.level > max_level;
    row.level = std::min(row.level, max_level);
  }
  if (deeper)
    table.facts.push_back({"Note", fmt::format("Rows below level {} are shown there.", max_level)});
}

constexpr const char* left_out = "[left out]";

// The largest file of PTT: it has some 300 bytes for each thread.
constexpr size_t max_ptt_bytes = size_t{256} << 20;

std::optional<HtmlTable> ptt_table(std::string_view text) {
  if (text.size() > max_ptt_bytes || text.find("\"threads_without_account\"") == text.npos)
    return std::nullopt;
  const auto json = Json::parse(text);
  if (!json || !json->is_object() || json->find("threads_without_account") == nullptr)
    return std::nullopt;
  return table_of_ptt(*json);
}

// Of counts of PTT or a log-rt.
pi::Result<HtmlTable> table_of_text(std::string_view text, const std::string& path) {
  try {
    if (auto table = ptt_table(text)) return std::move(*table);
  } catch (const std::runtime_error& problem) {
    return pi::Error{-1, fmt::format("{} cannot be read as counts of ptt dump -json: {}.",
                                     printable(path), problem.what())};
  }
  const auto flow = logrt::parse_call_flow(text, path, "");
  if (flow) return table_of(*flow);
  return pi::Error{-1, fmt::format("{} --with-data takes what ptt dump -json, swtrace ai -json or "
                                   "hdump --json has printed, and a log-rt or log-jlm with the "
                                   "option JSON.",
                                   flow.error().message)};
}

}  // namespace

void add_sums_below(HtmlTable& table, size_t column) {
  std::vector<double> below;  // by level: the sum of the rows read so far that are below
  for (auto row = table.rows.rbegin(); row != table.rows.rend(); ++row) {
    if (below.size() < row->level + size_t{2}) below.resize(row->level + size_t{2});
    const double sum = row->cells[column] + std::exchange(below[row->level + size_t{1}], 0);
    row->cells.push_back(sum);
    below[row->level] += sum;
  }
}

void limit_table(HtmlTable& table, size_t rows) {
  limit_levels(table);
  if (const size_t joined = shorten_table(table, rows); joined != 0)
    table.facts.push_back({"Left out", fmt::format("{} rows are joined as [left out].", joined)});
}

pi::Json table_json(const HtmlTable& table,
                    const std::function<size_t(const std::string&)>& add_text) {
  Json facts = Json::array(), columns = Json::array(), levels = Json::array(),
       names = Json::array(), cells = Json::array();
  for (const auto& [lead, text] : table.facts) facts.push_back({lead, text});
  for (const HtmlTable::Row& row : table.rows) {
    levels.push_back(row.level);
    names.push_back(add_text(row.name));
  }
  for (size_t i = 0; i < table.columns.size(); ++i) {
    columns.push_back(table.columns[i]);
    Json column = Json::array();
    for (const HtmlTable::Row& row : table.rows)
      column.push_back(std::isnan(row.cells[i]) ? Json() : Json(row.cells[i]));
    cells.push_back(std::move(column));
  }
  return {{"title", table.title},     {"file", table.file},       {"facts", std::move(facts)},
          {"order", table.order},     {"columns", columns},       {"level", std::move(levels)},
          {"name", std::move(names)}, {"cells", std::move(cells)}};
}

size_t shorten_table(HtmlTable& table, size_t rows) {
  if (table.rows.size() <= rows) return 0;
  // By row: the largest number in the last column of the row and of those below it.
  std::vector<double> weights(table.rows.size());
  std::vector<double> below;
  for (size_t i = table.rows.size(); i-- > 0;) {
    const HtmlTable::Row& row = table.rows[i];
    if (below.size() < row.level + size_t{2}) below.resize(row.level + size_t{2});
    // A number that is not known is no larger than 0.
    weights[i] = std::fmax(std::exchange(below[row.level + size_t{1}], 0), row.cells.back());
    below[row.level] = std::max(below[row.level], weights[i]);
  }
  std::vector<double> sorted = weights;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<ptrdiff_t>(rows), sorted.end(),
                   std::greater<>());
  const double least = sorted[rows];
  std::vector<HtmlTable::Row> kept;
  size_t joined = 0;
  for (size_t i = 0; i < table.rows.size();) {
    if (weights[i] > least) {
      kept.push_back(std::move(table.rows[i++]));
      continue;
    }
    // This row and all below it, and the next ones like it: one row.
    const uint32_t level = table.rows[i].level;
    if (kept.empty() || kept.back().level != level || kept.back().name != left_out)
      kept.push_back({level, left_out, std::vector<double>(table.columns.size())});
    add(kept.back().cells, table.rows[i].cells);
    for (++joined, ++i; i < table.rows.size() && table.rows[i].level > level; ++i, ++joined)
      add(kept.back().cells, table.rows[i].cells, table.with_below);
  }
  for (HtmlTable::Row& row : kept)
    if (row.name == left_out)
      for (const size_t column : table.not_sums) row.cells[column] = not_available;
  table.rows = std::move(kept);
  return joined;
}

pi::Result<std::vector<HtmlTable>> parse_html_tables(std::string_view text,
                                                     const std::string& path) {
  std::vector<HtmlTable> tables;
  try {
    if (auto found = jvm_tables(text)) tables = std::move(*found);
  } catch (const std::runtime_error& problem) {
    return pi::Error{-1, fmt::format("{} cannot be read as log-jlm or output of hdump --json: {}.",
                                     printable(path), problem.what())};
  }
  try {
    if (tables.empty())
      if (auto table = ai_table(text)) tables.push_back(std::move(*table));
  } catch (const std::runtime_error& problem) {
    return pi::Error{-1, fmt::format("{} cannot be read as output of swtrace ai -json: {}.",
                                     printable(path), problem.what())};
  }
  if (tables.empty()) {
    auto table = table_of_text(text, path);
    if (!table) return table.error();
    limit_table(*table);
    tables.push_back(std::move(*table));
  }
  for (HtmlTable& table : tables) table.file = printable(path);
  return tables;
}

pi::Result<std::vector<HtmlTable>> read_html_tables(const std::string& path) {
  const auto text = pi::read_text_file(path, logrt::max_file_bytes);
  if (!text) return text.error();
  return parse_html_tables(*text, path);
}

}  // namespace post
