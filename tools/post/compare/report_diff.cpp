// SPDX-License-Identifier: MIT
// Writes the comparison of post --diff: a table for people, and JSON for programs. Both are
// documented in post(1).
#include "report_diff.h"

#include <fmt/format.h>

#include <cmath>
#include "json.h"

#include "text/text.h"

namespace post {
namespace {

using Json = pi::Json;

constexpr int schema_version = 1;

constexpr const char* verdict_words[] = {"more", "less", "noise"};

std::string fact(std::string_view name, std::string_view a, std::string_view b) {
  return fmt::format("{:>20}  {:>16}  {:>16}\n", name, a, b);
}

std::string fact(std::string_view name, uint64_t a, uint64_t b) {
  return fact(name, std::to_string(a), std::to_string(b));
}

std::string rate_text(const Profile& profile, uint64_t ticks) {
  return profile.time_ns == 0 ? "-" : fmt::format("{:.1f}", profile.rate(ticks));
}

std::string seconds_text(const Profile& profile) {
  return fmt::format("{:.3f}(sec)", static_cast<double>(profile.time_ns) / 1e9);
}

std::string facts(const Diff& diff) {
  const Profile& a = diff.a;
  const Profile& b = diff.b;
  std::string text = fact("", "A", "B");
  text += fact("Processors", a.processors, b.processors);
  text += fact("TraceTime", seconds_text(a), seconds_text(b));
  text += fact("TOTAL TICKS", a.ticks, b.ticks);
  text += fact("Ticks a second", rate_text(a, a.ticks), rate_text(b, b.ticks));
  text += fact("Without a module", a.no_module, b.no_module);
  text += fact("Without a symbol", a.no_symbol, b.no_symbol);
  return text;
}

std::string lacks(std::string_view side, const Profile& profile) {
  std::string text;
  for (const auto& [lead, what] : profile.lacks)
    text += sentence(fmt::format("{} of {}", lead, side), what);
  return text;
}

std::string symbol_notes(std::string_view side, const Profile& profile) {
  std::string text;
  for (const std::string& note : profile.symbol_notes)
    text += sentence(fmt::format("Symbols of {}", side), note);
  return text;
}

std::string legend(const Diff& diff) {
  const std::string rate =
      diff.rate_sigmas == 0
          ? ""
          : sentence("All ticks a second",
                     fmt::format("changed by z = {:.1f} from A to B.", diff.rate_sigmas));
  return rate + sentence("CHANGE", "share in B minus share in A, in points of percent.") +
         sentence("z", fmt::format("how far that is from chance, in standard deviations. Rows "
                                   "within {:.1f} are marked ~: sampling alone can make them "
                                   "differ so.",
                                   diff.noise_limit)) +
         sentence("Clipping Level", fmt::format("{} %; rows below it in A and in B are left out.",
                                                diff.clip_percent));
}

// "symbol:file name of the module", as a budget names it.
std::string name_of(const DiffRow& row) {
  if (row.module.empty()) return row.name;
  return row.name + ":" + row.module.substr(row.module.rfind('/') + 1);
}

std::string table_text(const Diff& diff, const DiffTable& table) {
  constexpr const char* marks[] = {"more", "less", "~"};
  std::string text = fmt::format("\n{}    )) {}\n{}\n", banner, table.title, banner);
  text += "  CHANGE    A %    B %   A tks/s   B tks/s      z       NAMES\n\n";
  bool noise = false;
  for (const DiffRow& row : table.rows) {
    if (row.verdict == Verdict::noise && !noise && &row != &table.rows.front()) text += '\n';
    noise = row.verdict == Verdict::noise;
    text += fmt::format(" {:>+7.2f} {:>6.2f} {:>6.2f} {:>9} {:>9} {:>+6.1f} {:<4}  {}\n",
                        row.change, percent(row.a, diff.a.ticks), percent(row.b, diff.b.ticks),
                        rate_text(diff.a, row.a), rate_text(diff.b, row.b), row.sigmas,
                        marks[static_cast<size_t>(row.verdict)], name_of(row));
  }
  return text;
}

// Rounded so that files can be compared; still more digits than are significant.
double rounded(double value) {
  return std::round(value * 1e4) / 1e4;
}

Json side_json(const Profile& profile) {
  Json lacks = Json::array();
  for (const auto& [lead, text] : profile.lacks) lacks.push_back(lead + ": " + text);
  return {{"file", profile.path},
          {"source", profile.source},
          {"scope", profile.scope},
          {"kernel", profile.kernel},
          {"processors", profile.processors},
          {"trace_time_s", static_cast<double>(profile.time_ns) / 1e9},
          {"tick_ns", profile.tick_ns},
          {"ticks", profile.ticks},
          {"ticks_per_second", rounded(profile.rate(profile.ticks))},
          {"no_module", profile.no_module},
          {"no_symbol", profile.no_symbol},
          {"damaged", profile.damaged},
          {"missing", profile.missing},
          {"selection", profile.selection},
          {"lacks", std::move(lacks)},
          {"symbol_notes", profile.symbol_notes}};
}

Json count_json(const Profile& profile, uint64_t ticks) {
  return {{"ticks", ticks},
          {"percent", rounded(percent(ticks, profile.ticks))},
          {"ticks_per_second", rounded(profile.rate(ticks))}};
}

Json row_json(const Diff& diff, const DiffRow& row) {
  Json json = {{"name", row.name}};
  if (!row.module.empty()) json["module"] = row.module;
  json.update({{"a", count_json(diff.a, row.a)},
               {"b", count_json(diff.b, row.b)},
               {"change_points", rounded(row.change)},
               {"z", rounded(row.sigmas)},
               {"verdict", verdict_words[static_cast<size_t>(row.verdict)]}});
  return json;
}

}  // namespace

bool write_diff(const Diff& diff, Sink& sink) {
  std::string text = " Tprof Difference, from A to B\n\n";
  text += sentence("A", printable(diff.a.path)) + sentence("B", printable(diff.b.path)) + '\n';
  text += facts(diff) + '\n';
  text += lacks("A", diff.a) + lacks("B", diff.b);
  if (diff.a.selection == diff.b.selection && !diff.a.selection.empty())
    text += sentence("Only", diff.a.selection);
  for (const std::string& note : diff.notes) text += sentence("Note", note);
  text += legend(diff);
  for (const DiffTable& table : diff.tables) text += table_text(diff, table);
  const std::string notes = symbol_notes("A", diff.a) + symbol_notes("B", diff.b);
  if (!notes.empty()) text += '\n' + notes;
  return sink.write(text);
}

bool write_diff_json(const Diff& diff, Sink& sink) {
  Json json = {{"schema", "pitrace-tprof-diff"},
               {"schema_version", schema_version},
               {"a", side_json(diff.a)},
               {"b", side_json(diff.b)},
               {"notes", diff.notes},
               {"clip_percent", diff.clip_percent},
               {"noise_z", rounded(diff.noise_limit)},
               {"rate_z", rounded(diff.rate_sigmas)}};
  constexpr const char* members[] = {"processes", "modules", "symbols"};
  for (size_t i = 0; i < diff.tables.size(); ++i) {
    Json rows = Json::array();
    for (const DiffRow& row : diff.tables[i].rows) rows.push_back(row_json(diff, row));
    json[members[i]] = std::move(rows);
  }
  return sink.write(json.dump(1) + "\n");
}

}  // namespace post
