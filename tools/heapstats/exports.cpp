// SPDX-License-Identifier: MIT
// The reports on logs for other programs, and changes from one log to another.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <span>
#include <tuple>

#include "json.h"
#include "report.h"

namespace heapstats {
namespace {

using namespace pi::heap_log;
using pi::Json;

constexpr const char* kind_words[] = {"allocation", "mutex",     "read_lock",
                                      "write_lock", "condition", "other_futex"};
constexpr const char* search_words[] = {
    "not_searched", "searched",   "no_time",      "interrupted",    "no_memory",
    "not_stopped",  "not_traced", "not_readable", "blocks_unknown", "unknown"};
constexpr const char* end_words[] = {"whole", "cut", "unknown", "not_stored"};

Json json_of(const HeapFile& file, const CallPaths& paths, const Row& row) {
  Json functions = Json::array();
  for (const uint32_t index : row.functions)
    functions.push_back(
        {{"name", paths.functions[index].name}, {"module", paths.functions[index].module}});
  Json json = {{"kind", kind_words[row.kind]}, {"end", end_words[row.end]}};
  if (row.kind == allocation)
    json.update({{"allocations", row.allocations},
                 {"bytes", row.bytes},
                 {"frees", row.frees},
                 {"live_bytes", row.live_bytes},
                 {"peak_bytes", row.peak_bytes}});
  else
    json.update({{"waits", row.waits},
                 {"nanoseconds", row.nanoseconds},
                 {"longest_nanoseconds", row.longest}});
  if (row.kind == allocation && file.search == searched)
    json.update({{"leaked_blocks", row.leaked},
                 {"leaked_bytes", row.leaked_bytes},
                 {"inside_blocks", row.inside},
                 {"inside_bytes", row.inside_bytes}});
  json.add("functions") = std::move(functions);
  return json;
}

// ';' separates the functions, the last blank the count.
std::string folded_name(const Function& function) {
  std::string name = function.name;
  std::ranges::replace(name, ';', ':');
  return name;
}

using Names = std::tuple<Kind, std::vector<Function>>;
struct Change {
  uint64_t before = 0, after = 0, count_before = 0, count_after = 0;
  uint64_t distance() const { return before > after ? before - after : after - before; }
};

std::string_view heading_of_changes(By by) {
  switch (by) {
    case By::live:
      return "Bytes that are not freed";
    case By::live_count:
      return "Blocks that are not freed";
    case By::leaked:
      return "Leaked bytes";
    case By::allocated:
      return "Allocated bytes";
    case By::allocations:
      return "Allocations";
    case By::peak:
      return "Most bytes at once";
    case By::wait_time:
      return "Seconds of waiting";
    case By::waits:
      break;
  }
  return "Waits";
}

std::string with_sign(uint64_t before, uint64_t after) {
  return after < before ? fmt::format("-{}", before - after) : fmt::format("+{}", after - before);
}

void append_change(std::string& text, const Names& names, const Change& change,
                   const ReportOptions& options) {
  const auto number = [&](uint64_t value) {
    return options.sort == By::wait_time ? duration(value) : std::to_string(value);
  };
  const auto& [kind, functions] = names;
  fmt::format_to(std::back_inserter(text), "  {:>15} {:>15} {:>15} {:>15}{}{}\n",
                 (change.after < change.before ? "-" : "+") + number(change.distance()),
                 number(change.before), number(change.after),
                 with_sign(change.count_before, change.count_after),
                 is_of_waits(options.sort) ? "  " : "", name_of(kind));
  const size_t shown =
      options.depth == 0 ? functions.size() : std::min(options.depth, functions.size());
  for (const Function& function : std::span(functions).first(shown))
    fmt::format_to(std::back_inserter(text), "      {}{}{}\n", function.name,
                   function.module.empty() ? "" : ":", function.module);
}

}  // namespace

std::string json_report(const HeapFile& file, const CallPaths& paths) {
  Json rows = Json::array();
  for (const Row& row : paths.rows) rows.push_back(json_of(file, paths, row));
  Json json = {{"schema_version", 1},           {"pid", file.pid},
               {"command", file.command},       {"begin_ns", file.begin_ns},
               {"live_bytes", file.live_bytes}, {"peak_bytes", file.peak_bytes}};
  if (file.recorded_ns != 0)
    json.update({{"recorded_ns", file.recorded_ns}, {"earlier_frees", file.earlier_frees}});
  json.add("search") = {{"state", search_words[file.search]},
                        {"nanoseconds", file.search_ns},
                        {"bytes", file.searched_bytes}};
  json.add("lost") = {
      {"paths", file.lost[lost_paths]},       {"blocks", file.lost[lost_blocks]},
      {"mappings", file.lost[lost_mappings]}, {"unseen_frees", file.lost[unseen_frees]},
      {"calls", file.lost[lost_calls]},       {"damage", file.damage}};
  json.add("paths") = std::move(rows);
  return json.dump(1) + '\n';
}

std::string folded(const CallPaths& paths, By by) {
  std::map<std::string, uint64_t> lines;
  for (const Row& row : paths.rows) {
    if ((row.kind != allocation) != is_of_waits(by) || value_of(row, by) == 0) continue;
    std::string line;
    for (size_t i = row.functions.size(); i-- != 0;)
      line += (line.empty() ? "" : ";") + folded_name(paths.functions[row.functions[i]]);
    lines[line.empty() ? "[not stored]" : line] += value_of(row, by);
  }
  std::string text;
  for (const auto& [line, value] : lines)
    fmt::format_to(std::back_inserter(text), "{} {}\n", line, value);
  return text;
}

std::string text_changes(const HeapFile& a, const CallPaths& of_a, const HeapFile& b,
                         const CallPaths& of_b, const ReportOptions& options) {
  std::map<Names, Change> changes;
  const By by = options.sort;
  const auto take = [&](const CallPaths& paths, bool is_after) {
    for (const Row& row : paths.rows) {
      if ((row.kind != allocation) != is_of_waits(by)) continue;
      Names names{row.kind, {}};
      for (const uint32_t index : row.functions)
        std::get<1>(names).push_back(paths.functions[index]);
      Change& change = changes[names];
      (is_after ? change.after : change.before) += value_of(row, by);
      (is_after ? change.count_after : change.count_before) += row.allocations + row.waits;
    }
  };
  take(of_a, false);
  take(of_b, true);
  std::vector<std::pair<const Names*, Change>> rows;
  for (const auto& [names, change] : changes)
    if (change.distance() != 0) rows.push_back({&names, change});
  std::ranges::stable_sort(rows, std::greater(),
                           [](const auto& row) { return row.second.distance(); });
  const bool of_waits = is_of_waits(by);
  std::string text = fmt::format(
      "A: {} {}\nB: {} {}\n\n{}, by call path (innermost first):\n\n"
      "  {:>15} {:>15} {:>15} {:>15}{}\n",
      a.path, a.command, b.path, b.command, heading_of_changes(by), "CHANGE", "A", "B",
      of_waits ? "WAITS" : "ALLOCATIONS", of_waits ? "  FOR" : "");
  const size_t shown = options.lines == 0 ? rows.size() : std::min(options.lines, rows.size());
  for (size_t i = 0; i < shown; ++i) append_change(text, *rows[i].first, rows[i].second, options);
  if (rows.size() > shown)
    fmt::format_to(std::back_inserter(text), "  ... {} more; --lines=0 shows all\n",
                   rows.size() - shown);
  if (rows.empty()) text += "  no change\n";
  return text;
}

}  // namespace heapstats
