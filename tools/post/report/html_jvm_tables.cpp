// SPDX-License-Identifier: MIT
// Tables of JProf's reports on the locks and the heap of a Java virtual machine.
#include "html_jvm_tables.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "page_facts.h"
#include "table_json.h"

namespace post {
namespace {

using pi::Json;

double ratio(double part, double whole) {
  return whole == 0 ? 0 : part / whole;
}

// ---- locks
// ---------------------------------------------------------------------------------------

// Columns of the rows as they are read, which may be added up.
enum LockColumn : size_t { nonrec, slow, rec, hold_ns, gets };

HtmlTable::Row monitor_row(const Json& json) {
  const std::string hash = text_of(json, "hash");
  const double held = json.contains("hold_ns") ? number(json, "hold_ns") : 0;
  return {0,
          fmt::format("{}@{}", text_of(json, "class"), hash.empty() ? "*" : hash),
          {number(json, "nonrec"), number(json, "slow"), number(json, "rec"), held,
           number(json, "gets")}};
}

// The columns of log-jlm.
void use_lock_columns(HtmlTable& table, bool times, double interval) {
  table.columns = {"%MISS", "GETS", "NONREC", "SLOW", "REC"};
  if (times)
    table.columns.insert(table.columns.end(), {"%UTIL", "AVER_HTM (ns)", "hold time (ns)"});
  for (HtmlTable::Row& row : table.rows) {
    const std::vector<double> from = std::exchange(row.cells, {});
    row.cells = {100 * ratio(from[slow], from[nonrec]), from[gets], from[nonrec], from[slow],
                 from[rec]};
    if (times)
      row.cells.insert(row.cells.end(), {100 * ratio(from[hold_ns], interval),
                                         ratio(from[hold_ns], from[nonrec]), from[hold_ns]});
  }
}

// Of many things with the same reason only the first is named.
void add_not_counted(std::vector<LeadAndText>& facts, const Json& json) {
  facts.push_back({"Never counted",
                   "locks of java.util.concurrent, monitors that native code enters or inside of "
                   "the JVM, and those of hidden classes"});
  std::map<std::string, std::pair<std::string, size_t>> by_reason;
  for (const Json& entry : list(json, "not_counted")) {
    auto& [first, count] = by_reason[text_of(entry, "why")];
    if (count++ == 0) first = text_of(entry, "what");
  }
  constexpr size_t most = 50;
  size_t left = by_reason.size();
  for (const auto& [why, what] : by_reason) {
    if (by_reason.size() - left == most) break;
    --left;
    const std::string more = what.second == 1 ? "" : fmt::format(" and {} more", what.second - 1);
    facts.push_back({"Not counted", fmt::format("{}{}: {}", what.first, more, why)});
  }
  if (left != 0)
    facts.push_back({"Not counted", fmt::format("others, for {} other reasons", left)});
}

std::vector<LeadAndText> lock_facts(const Json& json) {
  std::vector<LeadAndText> facts = {
      {"Interval", duration_text(whole_number(json, "interval_ns"))},
      {"Garbage collection",
       fmt::format("{} of it, in no hold time", duration_text(whole_number(json, "gc_ns")))}};
  if (!flag(json, "hold_times"))
    facts.push_back({"Not available", "hold times: they were not measured (jlml)"});
  facts.push_back({"Not available",
                   "TIER2 and TIER3, the passes of spin loops, and monitors of the JVM itself: "
                   "HotSpot reports them to no agent"});
  if (const uint64_t lost = whole_number(json, "lost_gets"); lost != 0)
    facts.push_back({"Lost", plural(lost, "get for lack of memory", "gets for lack of memory")});
  if (const uint64_t same = whole_number(json, "collisions"); same != 0)
    facts.push_back({"Monitors with the class and hash of another one, which has the SLOW of both",
                     std::to_string(same)});
  add_not_counted(facts, json);
  return facts;
}

std::optional<std::vector<HtmlTable>> lock_tables(std::string_view text) {
  HtmlTable locks;
  const auto json = Json::parse_each(
      text, "monitors", [&](const Json& monitor) { locks.rows.push_back(monitor_row(monitor)); });
  if (!json || !json->is_object() || !json->contains("blocked_elsewhere")) return std::nullopt;
  if (whole_number(*json, "schema_version") != 1)
    throw std::runtime_error("its schema_version is not 1");
  locks.title = "Java locks";
  locks.order = "contention (%MISS)";
  locks.columns.resize(gets + 1);
  locks.facts = lock_facts(*json);
  limit_table(locks);
  use_lock_columns(locks, flag(*json, "hold_times"), number(*json, "interval_ns"));
  HtmlTable outside;
  outside.title = "Java locks: blocked gets of what is not counted";
  outside.columns = {"SLOW"};
  for (const Json& entry : list(*json, "blocked_elsewhere"))
    outside.rows.push_back({0, text_of(entry, "class"), {number(entry, "slow")}});
  limit_table(outside);
  std::vector<HtmlTable> tables{std::move(locks)};
  if (!outside.rows.empty()) tables.push_back(std::move(outside));
  return tables;
}

// ---- the heap
// ------------------------------------------------------------------------------------

std::string object_name(const Json& json) {
  return fmt::format("{} 0x{:x}", text_of(json, "object"), whole_number(json, "id"));
}

HtmlTable::Row class_row(const Json& json) {
  return {0,
          text_of(json, "name") + (flag(json, "retained_exact") ? "" : "  (retained: at least)"),
          {number(json, "objects"), number(json, "bytes"), number(json, "retained")}};
}

std::vector<LeadAndText> heap_facts(const Json& json) {
  std::vector<LeadAndText> facts = {
      {"Heap",
       fmt::format("{} objects of {} bytes, of which roots reach {} of {} bytes",
                   whole_number(json, "objects"), whole_number(json, "bytes"),
                   whole_number(json, "reachable_objects"), whole_number(json, "reachable_bytes"))},
      {"Dump", fmt::format("{} ({})", text_of(json, "file"), text_of(json, "format"))}};
  const bool of_jvm = text_of(member(json, "layout"), "source") == "jvm";
  facts.push_back({"Sizes", of_jvm ? "of the JVM"
                                   : "assumed, since the dump has none: hdump(1) lists what real "
                                     "sizes can differ in"});
  if (flag(json, "roots_assumed"))
    facts.push_back({"Roots",
                     "assumed: the dump has none, its end is missing. Each object without "
                     "a reference to it counts as a root"});
  const auto add = [&](const char* name, const char* lead) {
    if (const uint64_t count = whole_number(json, name); count != 0)
      facts.push_back({lead, std::to_string(count)});
  };
  add("dangling_references", "References to objects that are not in the dump");
  add("objects_without_class", "Objects whose class or size is not known");
  const Json& damage = member(json, "damage");
  if (const uint64_t places = whole_number(damage, "places"); places != 0)
    facts.push_back({"Damaged", plural(places, "place of the dump", "places of the dump")});
  return facts;
}

// The tree of what keeps what alive; each path begins with that of the row above.
HtmlTable retained_table(const Json& json) {
  HtmlTable table;
  table.title = "Java heap: what retains what";
  table.columns = {"objects", "bytes", "retained"};
  table.with_below = 2;
  std::vector<std::string> above{""};  // by depth: the path with " > " behind it
  for (const Json& way : list(json, "ways")) {
    const uint64_t depth = whole_number(way, "depth");
    if (depth == 0 || depth > above.size()) throw std::runtime_error("a way begins at no other");
    above.resize(depth);
    const std::string path = text_of(way, "path");
    if (!path.starts_with(above.back())) throw std::runtime_error("a way begins at no other");
    table.rows.push_back(
        {static_cast<uint32_t>(depth - 1),
         path.substr(above.back().size()) + (flag(way, "cut") ? "  (and deeper)" : ""),
         {number(way, "objects"), number(way, "bytes"), number(way, "retained")}});
    above.push_back(path + " > ");
  }
  return table;
}

HtmlTable suspects_table(const Json& json) {
  HtmlTable table;
  table.title = "Java heap: leak suspects";
  table.columns = {"objects", "bytes", "% of heap", "retained"};
  constexpr double none = not_available;
  table.with_below = table.columns.size();
  for (const Json& suspect : list(json, "suspects")) {
    const double objects = number(suspect, "objects");
    table.rows.push_back(
        {0,
         objects == 1 ? object_name(suspect) : text_of(suspect, "object"),
         {objects, none, number(suspect, "percent"), number(suspect, "retained")}});
    for (const Json& held : list(suspect, "held"))
      table.rows.push_back({1,
                            "keeps alive: " + text_of(held, "name"),
                            {number(held, "objects"), number(held, "bytes"), none, none}});
    const Json& path = member(suspect, "path");
    const std::string root = text_of(path, "root");
    table.rows.push_back({1,
                          root.empty() ? "no root reaches it" : "reached from root: " + root,
                          {none, none, none, none}});
    for (const Json& step : list(path, "steps"))
      table.rows.push_back({2,
                            fmt::format("{} {}", object_name(step), text_of(step, "reference")),
                            {none, none, none, none}});
  }
  return table;
}

std::optional<std::vector<HtmlTable>> heap_tables(std::string_view text) {
  HtmlTable classes;
  const auto json = Json::parse_each(
      text, "classes", [&](const Json& row) { classes.rows.push_back(class_row(row)); });
  if (!json || !json->is_object() || !json->contains("dangling_references")) return std::nullopt;
  classes.title = "Java heap: classes";
  classes.columns = {"objects", "bytes", "retained"};
  classes.not_sums = {2};
  HtmlTable largest;
  largest.title = "Java heap: largest objects that only the roots retain";
  largest.columns = {"bytes", "retained"};
  for (const Json& object : list(*json, "largest"))
    largest.rows.push_back(
        {0, object_name(object), {number(object, "bytes"), number(object, "retained")}});
  std::vector<HtmlTable> tables;
  for (HtmlTable* table : {&classes, &largest}) tables.push_back(std::move(*table));
  tables.push_back(retained_table(*json));
  tables.push_back(suspects_table(*json));
  std::erase_if(tables, [](const HtmlTable& table) { return table.rows.empty(); });
  for (HtmlTable& table : tables) {
    table.facts = heap_facts(*json);
    limit_table(table);
  }
  return tables;
}

}  // namespace

std::optional<std::vector<HtmlTable>> jvm_tables(std::string_view text) {
  if (text.size() > max_jvm_report_bytes) return std::nullopt;
  if (text.find("\"blocked_elsewhere\"") != text.npos)
    if (auto tables = lock_tables(text)) return tables;
  if (text.find("\"dangling_references\"") != text.npos) return heap_tables(text);
  return std::nullopt;
}

}  // namespace post
