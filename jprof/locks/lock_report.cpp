// SPDX-License-Identifier: MIT
// log-jlm: the report of the lock monitor, as text and as JSON.
#include "locks/lock_report.h"

#include <json_writer.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>

namespace pi::jprof {
namespace {

constexpr size_t rows_of_class = 20;  // that a report lists one by one

double ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string hex(uint32_t value) {
  char text[16];
  (void)std::snprintf(text, sizeof text, "%x", value);
  return text;
}

std::string monitor_name(const LockCounts& counts) {
  return counts.name + "@" + (counts.is_class ? "*" : hex(counts.hash));
}

constexpr const char* not_available =
    "not available on this JVM: HotSpot tells agents neither of its own monitors nor how often a "
    "get spun";

constexpr const char* legend =
    "LEGEND:\n"
    "  %MISS    100 * SLOW / NONREC\n"
    "  GETS     how often the monitor was entered: NONREC + REC\n"
    "  NONREC   thereof by a thread that did not hold it yet\n"
    "  SLOW     thereof after the thread was blocked\n"
    "  REC      gets by a thread that held it already\n"
    "  TIER2, TIER3  passes of spin loops: not available on this JVM\n";
constexpr const char* legend_of_times =
    "  %UTIL    100 * hold time / JLM_Interval_Time\n"
    "  AVER_HTM hold time / NONREC, in nanoseconds\n";
constexpr const char* legend_of_names =
    "  MON-NAME CLASS@HASH as Object.toString() prints it, CLASS.class@HASH of static methods;\n"
    "           CLASS@*: the other monitors of the class: their objects were collected, or\n"
    "           others have more gets\n";

constexpr const char* outside_always =
    "  java.util.concurrent: locks that are no monitors\n"
    "  monitors that native code enters, and those inside of the JVM\n"
    "  hidden classes, such as those that implement lambda expressions\n"
    "  java.lang.VirtualThread and jdk.internal.vm: the JVM depends on their code\n";

void append_row(std::string& text, const LockRow& row, const LockTotals& totals) {
  char line[160];
  (void)std::snprintf(line, sizeof line, "%6.2f %12llu %12llu %10llu %12llu %5s %5s", row.miss(),
                      static_cast<unsigned long long>(row.gets()),
                      static_cast<unsigned long long>(row.counts.nonrecursive),
                      static_cast<unsigned long long>(row.slow),
                      static_cast<unsigned long long>(row.counts.recursive), "-", "-");
  text += line;
  if (totals.times) {
    (void)std::snprintf(line, sizeof line, " %6.2f %12.0f", row.utilisation(totals.interval),
                        row.average_hold());
    text += line;
  }
  text += "  " + monitor_name(row.counts) + "\n";
}

// Of many with the same reason, as the classes of a JVM that is too new, only the first is named.
void append_uncovered(std::string& text, const LockTotals& totals) {
  constexpr size_t most = 20;
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const auto& [what, why] : totals.uncovered) by_reason[why].push_back(what);
  for (const auto& [why, all] : by_reason) {
    if (all.size() > most)
      text +=
          "  " + all.front() + " and " + std::to_string(all.size() - 1) + " more: " + why + "\n";
    else
      for (const auto& what : all) text += "  " + what + ": " + why + "\n";
  }
}

void append_outside(std::string& text, const LockTable& table, const LockTotals& totals) {
  text += "\nNot counted:\n";
  text += outside_always;
  append_uncovered(text, totals);
  if (!table.outside.empty()) text += "\nBlocked gets of these, by class:\n";
  for (const auto& other : table.outside)
    text += "  " + std::to_string(other.count) + " " + other.name + "\n";
  if (totals.lost > 0)
    text += "\nNot counted for lack of memory: " + std::to_string(totals.lost) + " gets\n";
  if (table.collisions > 0)
    text += "\nMonitors with the class and hash of another one, which has the SLOW of both: " +
            std::to_string(table.collisions) + "\n";
}

void add(LockRow& sum, const LockRow& row) {
  sum.counts.is_class = true;
  sum.counts.nonrecursive += row.counts.nonrecursive;
  sum.counts.recursive += row.counts.recursive;
  sum.counts.held += row.counts.held;
  sum.slow += row.slow;
}

// Makes one row of the monitors of a class that are not among its busiest ones.
void fold(std::vector<LockRow>& rows) {
  const auto is_busier = [](const LockRow& a, const LockRow& b) {
    return std::tuple(a.slow, a.gets()) > std::tuple(b.slow, b.gets());
  };
  std::stable_sort(rows.begin(), rows.end(), is_busier);
  std::map<std::string, size_t> listed;
  std::map<std::string, LockRow> others;
  std::vector<LockRow> kept;
  for (auto& row : rows) {
    if (!row.counts.is_class && ++listed[row.counts.name] <= rows_of_class)
      kept.push_back(std::move(row));
    else if (const auto [other, added] = others.emplace(row.counts.name, row); !added)
      add(other->second, row);
  }
  for (auto& [name, row] : others) kept.push_back(std::move(row));
  rows = std::move(kept);
}

}  // namespace

double LockRow::miss() const {
  return 100 * ratio(slow, counts.nonrecursive);
}

double LockRow::utilisation(uint64_t interval) const {
  return 100 * ratio(counts.held, interval);
}

double LockRow::average_hold() const {
  return ratio(counts.held, counts.nonrecursive);
}

// A contended get belongs to the monitor with its hash and class, else to the sum of its class.
LockTable lock_table(const LockTotals& totals) {
  LockTable table;
  std::map<std::tuple<std::string, uint32_t, bool>, size_t> places;
  for (const auto& monitor : totals.monitors) {
    const auto [place, added] =
        places.emplace(std::tuple(monitor.name, monitor.hash, monitor.is_class), table.rows.size());
    table.collisions += added ? 0 : 1;
    table.rows.push_back({monitor});
  }
  std::map<std::string, uint64_t> outside;
  for (const auto& contended : totals.contended) {
    auto place = places.end();
    if (contended.by_probe) place = places.find({contended.name, contended.hash, false});
    if (contended.by_probe && place == places.end()) place = places.find({contended.name, 0, true});
    if (place != places.end())
      table.rows[place->second].slow += contended.count;
    else
      outside[contended.name] += contended.count;
  }
  for (const auto& [name, count] : outside) table.outside.push_back({name, 0, count, false});
  fold(table.rows);
  const auto key = [](const LockRow& row) {
    return std::tuple(-row.miss(), ~row.gets(), monitor_name(row.counts));
  };
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [&](const LockRow& a, const LockRow& b) { return key(a) < key(b); });
  return table;
}

std::string lock_report(const LockTotals& totals, const std::string& heading) {
  const LockTable table = lock_table(totals);
  std::string text = "Java Lock Monitor Report\n" + heading;
  text += "JLM_Interval_Time " + std::to_string(totals.interval) + "\n";
  text += " Units :: nanoseconds\n Garbage collection :: " + std::to_string(totals.gc) +
          " of these, in no hold time\n";
  if (!totals.running) text += " Ended :: before this report, by JLMSTOP\n";
  text += "\nSystem (Registered) Monitors\n\n  ";
  text += not_available;
  text +=
      "\n\nJava (Inflated) Monitors\n\n %MISS         GETS       NONREC       SLOW          REC "
      "TIER2 TIER3";
  if (totals.times) text += "  %UTIL     AVER_HTM";
  text += "  MON-NAME\n";
  for (const auto& row : table.rows) append_row(text, row, totals);
  text += "\n";
  text += legend;
  if (totals.times) text += legend_of_times;
  text += legend_of_names;
  append_outside(text, table, totals);
  return text;
}

std::string lock_json(const LockTotals& totals) {
  const LockTable table = lock_table(totals);
  callflow::JsonWriter json;
  json.open('{');
  json.count("schema_version", 1);
  json.key("hold_times");
  json.boolean(totals.times);
  json.count("interval_ns", totals.interval);
  json.count("gc_ns", totals.gc);
  json.count("lost_gets", totals.lost);
  json.count("collisions", table.collisions);
  json.key("monitors");
  json.open('[');
  for (const auto& row : table.rows) {
    json.open('{');
    json.key("class");
    json.string(row.counts.name);
    json.key("hash");
    json.string(row.counts.is_class ? "" : hex(row.counts.hash));
    json.count("gets", row.gets());
    json.count("nonrec", row.counts.nonrecursive);
    json.count("slow", row.slow);
    json.count("rec", row.counts.recursive);
    if (totals.times) json.count("hold_ns", row.counts.held);
    json.close('}');
  }
  json.close(']');
  json.key("blocked_elsewhere");
  json.open('[');
  for (const auto& other : table.outside) {
    json.open('{');
    json.key("class");
    json.string(other.name);
    json.count("slow", other.count);
    json.close('}');
  }
  json.close(']');
  json.key("not_counted");
  json.open('[');
  for (const auto& [what, why] : totals.uncovered) {
    json.open('{');
    json.key("what");
    json.string(what);
    json.key("why");
    json.string(why);
    json.close('}');
  }
  json.close(']');
  json.close('}');
  json.line();
  return json.text();
}

}  // namespace pi::jprof
