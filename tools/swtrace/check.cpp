// SPDX-License-Identifier: MIT
// swtrace check: runs the checks and formats their findings as text or JSON.
#include "check.h"

#include <fmt/format.h>
#include "json.h"

namespace pi::swtrace {
namespace {

const char* word_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "ok";
    case Verdict::fail:
      return "FAIL";
    case Verdict::note:
      return "note";
  }
  return "";
}

}  // namespace

void CheckReport::ok(std::string topic, std::string text) {
  findings.push_back({std::move(topic), Verdict::ok, "", std::move(text), ""});
}

void CheckReport::note(std::string topic, std::string text, std::string remedy) {
  findings.push_back({std::move(topic), Verdict::note, "", std::move(text), std::move(remedy)});
}

void CheckReport::fail(std::string topic, std::string affects, std::string text,
                       std::string remedy) {
  findings.push_back(
      {std::move(topic), Verdict::fail, std::move(affects), std::move(text), std::move(remedy)});
}

CheckReport check_everything(const CheckPaths& paths) {
  CheckReport report;
  check_module(paths, report);
  check_signing(paths, report);
  check_hooks(paths, report);
  check_itrace(paths, report);
  check_perf(paths, report);
  check_symbols(paths, report);
  return report;
}

std::string verdict_text(const CheckReport& report) {
  if (report.driver_works) return "run.tprof will use the pitrace module (driver).";
  if (report.perf_system_works)
    return "run.tprof will use perf, for the whole system. As root in the source tree it first "
           "tries "
           "to load the pitrace module.";
  if (report.perf_process_works)
    return "run.tprof will use perf, for its command and its children only.";
  return "Neither source works here: fix one of the FAIL lines above.";
}

std::string report_text(const CheckReport& report) {
  std::string text;
  for (const auto& finding : report.findings) {
    text += fmt::format("{:<5}{:<13} {}", word_of(finding.verdict), finding.topic, finding.text);
    if (!finding.affects.empty()) text += fmt::format(" [prevents: {}]", finding.affects);
    text += '\n';
    if (!finding.remedy.empty()) text += fmt::format("     {:<13} -> {}\n", "", finding.remedy);
  }
  return text + "\n" + verdict_text(report) + "\n";
}

std::string report_json(const CheckReport& report) {
  using Json = pi::Json;
  Json checks = Json::array();
  for (const auto& finding : report.findings) {
    Json entry{
        {"topic", finding.topic}, {"verdict", word_of(finding.verdict)}, {"text", finding.text}};
    if (!finding.affects.empty()) entry["prevents"] = finding.affects;
    if (!finding.remedy.empty()) entry["remedy"] = finding.remedy;
    checks.push_back(std::move(entry));
  }
  const Json whole{{"checks", std::move(checks)},
                   {"driver_works", report.driver_works},
                   {"perf_system_works", report.perf_system_works},
                   {"perf_process_works", report.perf_process_works},
                   {"verdict", verdict_text(report)}};
  return whole.dump(2) + "\n";
}

}  // namespace pi::swtrace
