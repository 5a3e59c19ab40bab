// SPDX-License-Identifier: MIT
// Formats ptt dump as JSON, and reads thread names from JProf's files.
#include <algorithm>

#include "json.h"

#include "report.h"

namespace pi::ptt {
namespace {

using Json = pi::Json;

Json values_json(const Report& report, const Values& values) {
  Json json = Json::object();
  for (size_t i = 0; i < report.metrics.size(); ++i) json[report.metrics[i]] = values[i];
  return json;
}

Json others_json(const Report& report, const Others& others) {
  return {{"dispatches", others.dispatches},
          {"interrupts", others.interrupts},
          {"values", values_json(report, others.values)}};
}

}  // namespace

std::string report_json(const Report& report, const View& view) {
  const auto quotient = cpi_metrics(report);
  const bool cpi = view.cpi && quotient;
  const auto [cycles, instructions] = quotient.value_or(std::pair<size_t, size_t>{});
  Json json{{"active", report.active}, {"ints", report.ints}, {"metrics", report.metrics}};
  json["processes"] = Json::array();
  for (const auto& [pid, name] : report.processes)
    json["processes"].push_back({{"pid", pid}, {"name", name}});
  json["threads"] = Json::array();
  for (const auto& thread : report.threads) {
    Json row{{"pid", thread.pid},
             {"tid", thread.tid},
             {"name", thread.name},
             {"ended", thread.ended},
             {"dispatches", thread.dispatches},
             {"interrupts", thread.interrupts},
             {"values", values_json(report, thread.values)}};
    if (cpi && thread.values[instructions] != 0)
      row["cpi"] = static_cast<double>(thread.values[cycles]) /
                   static_cast<double>(thread.values[instructions]);
    json["threads"].push_back(std::move(row));
  }
  json["no_data"] = report.empty;
  json["ended_threads"] = others_json(report, report.ended);
  json["ended_threads"]["threads"] = report.ended.threads;
  json["threads_without_account"] = others_json(report, report.without_account);
  // Names need not be UTF-8.
  return json.dump() + "\n";
}

}  // namespace pi::ptt
