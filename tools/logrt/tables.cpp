// SPDX-License-Identifier: MIT
// The reports of logrt: tables for people, and JSON for programs.
#include "tables.h"

#include <fmt/format.h>
#include <pi/printable.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "json.h"

namespace logrt {
namespace {

using pi::Json;

constexpr int schema_version = 1;

std::string fact(std::string_view name, std::string_view value) {
  return fmt::format(" {:<14} : {}\n", name, value);
}

std::string metric_text(const CallFlow& flow) {
  if (flow.metric.empty()) return "none; calls are counted only";
  if (!flow.calibrated)
    return fmt::format("{} ({}), not calibrated: BASE contains a part of the cost of the probes",
                       flow.metric, flow.unit);
  return fmt::format("{} ({}), calibrated; error bound {:.6g} of each call and each return",
                     flow.metric, flow.unit, flow.error_bound);
}

std::string heading_of(Level level) {
  std::string word(level_word(level));
  std::ranges::transform(word, word.begin(),
                         [](char c) { return static_cast<char>(c - 'a' + 'A'); });
  return word;
}

double percent(double part, int64_t all) {
  return all == 0 ? 0 : 100 * part / static_cast<double>(all);
}

void sort(Totals& totals, ReportOptions::Sort by) {
  std::ranges::stable_sort(totals.rows, {}, [by](const Total& row) {
    const double calls = -static_cast<double>(row.calls);
    const double base = -static_cast<double>(row.base);
    const double cumulated = -static_cast<double>(row.cumulated);
    switch (by) {
      case ReportOptions::Sort::calls:
        return std::tuple(calls, base);
      case ReportOptions::Sort::cumulated:
        return std::tuple(cumulated, calls);
      case ReportOptions::Sort::base:
        break;
    }
    return std::tuple(base, calls);
  });
}

size_t shown(size_t rows, const ReportOptions& options) {
  return options.lines == 0 ? rows : std::min(rows, options.lines);
}

std::string rest_text(size_t all, size_t shown) {
  if (shown == all) return "";
  return fmt::format("\n {} further rows; --lines 0 prints all.\n", all - shown);
}

// Whole numbers with all digits.
std::string amount(double value) {
  return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.10g}", value);
}

std::string result_text(const LimitResult& result, const CallFlow& flow) {
  const Limit& limit = result.limit;
  const std::string_view unit =
      limit.of == Limit::Of::calls ? std::string_view("calls") : std::string_view(flow.unit);
  std::string text =
      fmt::format(" {:<5} {} {}: {} {} of at most {} {}", result.exceeded() ? "OVER" : "ok",
                  level_word(limit.level), pi::printable(limit.name), word_of(limit.of),
                  amount(result.value), amount(limit.limit), unit);
  if (!result.found) text += "; the call flow has none of this name";
  return text + '\n';
}

Json metric_json(const CallFlow& flow) {
  if (flow.metric.empty()) return {};
  return {{"name", flow.metric}, {"unit", flow.unit}, {"error_bound", flow.error_bound}};
}

Json flow_json(const CallFlow& flow) {
  return {{"file", flow.path},
          {"calibrated", flow.calibrated},
          {"threads", flow.threads},
          {"lost", flow.lost}};
}

Json total_json(const Total& total, bool has_metric) {
  Json json = {{"calls", total.calls}};
  if (has_metric) {
    json["base"] = total.base;
    json["cum"] = total.cumulated;
  }
  return json;
}

Json named(const std::string& name, Json more) {
  Json json = {{"name", name}};
  json.update(std::move(more));
  return json;
}

}  // namespace

std::string totals_text(const CallFlow& flow, Totals totals, const ReportOptions& options,
                        const std::vector<LimitResult>& results) {
  sort(totals, options.sort);
  std::string text = " Call Flow\n\n" + fact("File", pi::printable(flow.path)) +
                     fact("Threads", std::to_string(flow.threads)) +
                     fact("Metric", metric_text(flow)) +
                     fact("Calls", std::to_string(totals.calls));
  const bool has_metric = !flow.metric.empty();
  if (has_metric) text += fact("BASE", fmt::format("{} {}", totals.base, flow.unit));
  if (!flow.lost.empty()) text += fact("Lost", flow.lost);
  const size_t rows = shown(totals.rows.size(), options);
  if (has_metric)
    text += fmt::format("\n {:>12} {:>15} {:>6} {:>12} {:>15} {:>6}  {}\n\n", "CALLS", "BASE", "%",
                        "BASE/CALL", "CUM", "%", heading_of(options.level));
  else
    text += fmt::format("\n {:>12}  {}\n\n", "CALLS", heading_of(options.level));
  for (size_t i = 0; i < rows; ++i) {
    const Total& row = totals.rows[i];
    const std::string name = label(row.name, options.level);
    if (!has_metric) {
      text += fmt::format(" {:>12}  {}\n", row.calls, name);
      continue;
    }
    const std::string of_call = row.calls == 0 ? "-" : fmt::format("{:.1f}", row.base_of_call());
    text += fmt::format(" {:>12} {:>15} {:>6.2f} {:>12} {:>15} {:>6.2f}  {}\n", row.calls, row.base,
                        percent(static_cast<double>(row.base), totals.base), of_call, row.cumulated,
                        percent(static_cast<double>(row.cumulated), totals.base), name);
  }
  text += rest_text(totals.rows.size(), rows);
  if (!results.empty()) text += "\n Budget\n\n";
  for (const LimitResult& result : results) text += result_text(result, flow);
  return text;
}

std::string totals_json(const CallFlow& flow, Totals totals, const ReportOptions& options,
                        const std::vector<LimitResult>& results) {
  sort(totals, options.sort);
  const bool has_metric = !flow.metric.empty();
  Json rows = Json::array();
  for (size_t i = 0; i < shown(totals.rows.size(), options); ++i)
    rows.push_back(named(totals.rows[i].name, total_json(totals.rows[i], has_metric)));
  Json json = {{"schema", "pitrace-logrt"}, {"schema_version", schema_version}};
  json.update(flow_json(flow));
  json["metric"] = metric_json(flow);
  json["by"] = level_word(options.level);
  json["all_rows"] = totals.rows.size();
  json["total"] = Json::object();
  json["total"]["calls"] = totals.calls;
  if (has_metric) json["total"]["base"] = totals.base;
  json["rows"] = std::move(rows);
  if (!results.empty()) {
    Json limits = Json::array();
    for (const LimitResult& result : results)
      limits.push_back({{"level", level_word(result.limit.level)},
                        {"name", result.limit.name},
                        {"of", word_of(result.limit.of)},
                        {"limit", result.limit.limit},
                        {"value", result.value},
                        {"found", result.found},
                        {"exceeded", result.exceeded()}});
    json["budget"] = std::move(limits);
  }
  return json.dump(1) + "\n";
}

std::string changes_text(const CallFlow& a, const CallFlow& b, const std::vector<Change>& changes,
                         const ReportOptions& options) {
  const bool has_metric = !a.metric.empty();
  std::string text = " Call Flow Difference, from A to B\n\n";
  const auto side = [&text](const char* name, const CallFlow& flow) {
    text += fact(name, pi::printable(flow.path)) +
            fact(std::string("Metric of ") + name, metric_text(flow));
    if (!flow.lost.empty()) text += fact(std::string("Lost of ") + name, flow.lost);
  };
  side("A", a);
  side("B", b);
  if (a.calibrated != b.calibrated) text += fact("Note", "only one of the two is calibrated");
  if (has_metric)
    text += fact("~", "no change of calls, and no larger one of BASE than the error bounds") +
            fmt::format("\n {:>14} {:>8} {:>14} {:>14} {:>11} {:>11}    {}\n\n", "CHANGE", "%",
                        "BASE A", "BASE B", "CALLS A", "CALLS B", heading_of(options.level));
  else
    text += fmt::format("\n {:>14} {:>11} {:>11}  {}\n\n", "CHANGE", "CALLS A", "CALLS B",
                        heading_of(options.level));
  const size_t rows = shown(changes.size(), options);
  for (size_t i = 0; i < rows; ++i) {
    const Change& change = changes[i];
    const std::string name = label(change.a.name, options.level);
    if (!has_metric) {
      const double difference =
          static_cast<double>(change.b.calls) - static_cast<double>(change.a.calls);
      text += fmt::format(" {:>+14.0f} {:>11} {:>11}  {}\n", difference, change.a.calls,
                          change.b.calls, name);
      continue;
    }
    const std::string share =
        change.a.base == 0 ? "-" : fmt::format("{:+.2f}", percent(change.base(), change.a.base));
    text += fmt::format(" {:>+14.0f} {:>8} {:>14} {:>14} {:>11} {:>11} {:<1}  {}\n", change.base(),
                        share, change.a.base, change.b.base, change.a.calls, change.b.calls,
                        change.within_bound ? "~" : "", name);
  }
  return text + rest_text(changes.size(), rows);
}

std::string changes_json(const CallFlow& a, const CallFlow& b, const std::vector<Change>& changes,
                         const ReportOptions& options) {
  const bool has_metric = !a.metric.empty();
  Json json = {{"schema", "pitrace-logrt-diff"}, {"schema_version", schema_version}};
  json["a"] = flow_json(a);
  json["b"] = flow_json(b);
  json["a"]["metric"] = metric_json(a);
  json["b"]["metric"] = metric_json(b);
  json["by"] = level_word(options.level);
  json["all_rows"] = changes.size();
  Json rows = Json::array();
  for (size_t i = 0; i < shown(changes.size(), options); ++i) {
    const Change& change = changes[i];
    Json row = {{"name", change.a.name}};
    row["a"] = total_json(change.a, has_metric);
    row["b"] = total_json(change.b, has_metric);
    row["within_bound"] = change.within_bound;
    rows.push_back(std::move(row));
  }
  json["rows"] = std::move(rows);
  return json.dump(1) + "\n";
}

}  // namespace logrt
