// SPDX-License-Identifier: MIT
// The report on one log as text.
#include "report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <iterator>

namespace heapstats {
namespace {

using namespace pi::heap_log;

struct Word {
  std::string_view word;
  By by;
};
constexpr Word words[] = {{"live", By::live},
                          {"live-count", By::live_count},
                          {"leaked", By::leaked},
                          {"allocated", By::allocated},
                          {"allocations", By::allocations},
                          {"peak", By::peak},
                          {"wait-time", By::wait_time},
                          {"waits", By::waits}};

constexpr std::string_view kind_names[] = {"",           "mutex",     "read lock",
                                           "write lock", "condition", "other futex"};

std::string number_of(uint64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string started(const HeapFile& file) {
  const auto seconds = static_cast<time_t>(file.begin_ns / 1'000'000'000);
  tm local{};
  if (!::localtime_r(&seconds, &local)) return "at an unknown time";
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", local);
}

std::string process_line(const HeapFile& file) {
  if (file.recorded_ns == 0) return fmt::format("Process {}, started {}.", file.pid, started(file));
  return fmt::format("Process {}, which ran already, recorded for {:.1f} s from {}.", file.pid,
                     static_cast<double>(file.recorded_ns) / 1e9, started(file));
}

std::vector<const Row*> sorted(const CallPaths& paths, By by) {
  std::vector<const Row*> rows;
  for (const Row& row : paths.rows)
    if ((row.kind != allocation) == is_of_waits(by) && value_of(row, by) != 0) rows.push_back(&row);
  std::ranges::stable_sort(rows, std::greater(),
                           [by](const Row* row) { return value_of(*row, by); });
  return rows;
}

void append_functions(std::string& text, const CallPaths& paths, const Row& row, size_t depth) {
  const auto out = std::back_inserter(text);
  const size_t shown = depth == 0 ? row.functions.size() : std::min(depth, row.functions.size());
  for (size_t i = 0; i < shown; ++i) {
    const Function& function = paths.functions[row.functions[i]];
    fmt::format_to(out, "      {}{}{}\n", function.name, function.module.empty() ? "" : ":",
                   function.module);
  }
  if (shown < row.functions.size())
    fmt::format_to(out, "      ... {} more\n", row.functions.size() - shown);
  if (row.end == cut) text += "      (cut: the stack is deeper)\n";
  if (row.end == unknown) text += "      (the caller is not known)\n";
  if (row.end == not_stored) text += "      (paths that were not stored)\n";
}

void append_rest(std::string& text, size_t left) {
  if (left != 0)
    fmt::format_to(std::back_inserter(text), "  ... {} more; --lines=0 shows all\n", left);
}

std::string_view heading_of(By by) {
  if (by == By::live || by == By::live_count) return "Not freed";
  if (by == By::leaked) return "Leaked";
  return by == By::peak ? "Most at once" : "Allocated";
}

void append_heap(std::string& text, const HeapFile& file, const CallPaths& paths,
                 const ReportOptions& options) {
  const By by = is_of_waits(options.sort) ? By::live : options.sort;
  const auto rows = sorted(paths, by);
  if (rows.empty()) return;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "\n{}, by call path (innermost first):\n\n", heading_of(by));
  const bool is_searched = file.search == searched;
  fmt::format_to(out, "  {:>11} {:>8} {:>11} {:>11} {:>12}{}\n", "LIVE BYTES", "BLOCKS",
                 "ALLOCATED", "ALLOCATIONS", "MOST AT ONCE",
                 is_searched ? " LEAKED BYTES  LEAKED" : "");
  const size_t shown = options.lines == 0 ? rows.size() : std::min(options.lines, rows.size());
  for (size_t i = 0; i < shown; ++i) {
    const Row& row = *rows[i];
    fmt::format_to(out, "  {:>11} {:>8} {:>11} {:>11} {:>12}", row.live_bytes, row.live(),
                   row.bytes, row.allocations, row.peak_bytes);
    if (is_searched) fmt::format_to(out, " {:>12} {:>7}", row.leaked_bytes, row.leaked);
    text += '\n';
    append_functions(text, paths, row, options.depth);
  }
  append_rest(text, rows.size() - shown);
}

void append_waits(std::string& text, const CallPaths& paths, const ReportOptions& options) {
  const auto rows = sorted(paths, is_of_waits(options.sort) ? options.sort : By::wait_time);
  if (rows.empty()) return;
  const auto out = std::back_inserter(text);
  text += "\nWaits for locks and conditions, by call path (innermost first):\n\n";
  fmt::format_to(out, "  {:>14} {:>10} {:>14}  {}\n", "SECONDS", "WAITS", "LONGEST", "FOR");
  const size_t shown = options.lines == 0 ? rows.size() : std::min(options.lines, rows.size());
  for (size_t i = 0; i < shown; ++i) {
    const Row& row = *rows[i];
    fmt::format_to(out, "  {:>14} {:>10} {:>14}  {}\n", duration(row.nanoseconds), row.waits,
                   duration(row.longest), kind_names[row.kind]);
    append_functions(text, paths, row, options.depth);
  }
  append_rest(text, rows.size() - shown);
}

struct Sums {
  uint64_t allocations = 0, bytes = 0, frees = 0, leaked_bytes = 0, waits = 0, nanoseconds = 0,
           conditions = 0, condition_nanoseconds = 0, others = 0, other_nanoseconds = 0;
};

Sums sums_of(const HeapFile& file) {
  Sums sums;
  for (const StoredPath& path : file.paths) {
    const auto& number = path.number;
    if (path.kind == allocation) {
      sums.allocations += number[allocations];
      sums.bytes += number[bytes];
      sums.frees += number[frees];
      sums.leaked_bytes += std::min(number[leaked_bytes], number[live_bytes]);
    } else if (path.kind == condition) {
      sums.conditions += number[waits];
      sums.condition_nanoseconds += number[nanoseconds];
    } else if (path.kind == other_futex) {
      sums.others += number[waits];
      sums.other_nanoseconds += number[nanoseconds];
    } else {
      sums.waits += number[waits];
      sums.nanoseconds += number[nanoseconds];
    }
  }
  return sums;
}

void append_sums(std::string& text, const HeapFile& file) {
  const Sums sums = sums_of(file);
  const auto out = std::back_inserter(text);
  if (sums.allocations != 0)
    fmt::format_to(out, "\n{} of {}, {} freed.\nNot freed: {} of {}. At most {} at once.\n",
                   number_of(sums.allocations, "allocation"), number_of(sums.bytes, "byte"),
                   sums.frees,
                   number_of(sums.allocations - std::min(sums.frees, sums.allocations), "block"),
                   number_of(file.live_bytes, "byte"), number_of(file.peak_bytes, "byte"));
  if (file.recorded_ns != 0 && sums.allocations + file.earlier_frees != 0)
    fmt::format_to(out, "{}{} of blocks that it had allocated before the recording.\n",
                   sums.allocations == 0 ? "\n" : "", number_of(file.earlier_frees, "end"));
  if (sums.waits != 0)
    fmt::format_to(out, "{} for locks, together {} s.\n", number_of(sums.waits, "wait"),
                   duration(sums.nanoseconds));
  if (sums.conditions != 0)
    fmt::format_to(out, "{} for conditions, together {} s.\n", number_of(sums.conditions, "wait"),
                   duration(sums.condition_nanoseconds));
  if (sums.others != 0)
    fmt::format_to(out, "{} in other futexes, together {} s.\n", number_of(sums.others, "wait"),
                   duration(sums.other_nanoseconds));
  if (sums.allocations + sums.waits + sums.conditions + sums.others == 0)
    text += file.recorded_ns != 0
                ? "\nIt has neither allocated nor waited in this time.\n"
                : "\nNo allocation and no wait was seen. Not seen are those of an allocator in the "
                  "program's own file, and what run.heap was told not to record.\n";
}

// Why it is not known which blocks are leaked.
constexpr std::string_view search_problems[] = {
    "it was not searched for, or the process has not ended by exit()",
    "",
    "",
    "a signal ended the search",
    "there is no memory for the search, or no process could be started",
    "a thread did not stop, or was in realloc() each time that it did",
    "its threads could not be stopped by ptrace: another program traces it, or it is not allowed",
    "its memory or /proc could not be read",
    "calls that allocate or free were not seen",
    "the log has an unknown reason"};

std::string search_problem(const HeapFile& file) {
  if (file.search == not_searched && file.recorded_ns != 0)
    return "run.heap --pid searches only with --leaks, and not after the end of the process";
  if (file.search != no_time) return std::string(search_problems[file.search]);
  return fmt::format("the search took longer than {:.1f} s",
                     static_cast<double>(file.search_limit_ns) / 1e9);
}

void append_leaks(std::string& text, const HeapFile& file, const CallPaths& paths) {
  const auto out = std::back_inserter(text);
  Row all{};
  for (const Row& row : paths.rows) {
    all.allocations += row.live();
    all.leaked += row.leaked;
    all.leaked_bytes += row.leaked_bytes;
    all.inside += row.inside;
    all.inside_bytes += row.inside_bytes;
  }
  if (file.search == not_searched && all.allocations != 0)
    fmt::format_to(out, "Leaked: not known, since {}.\n", search_problem(file));
  if (file.search != searched) return;
  fmt::format_to(out, "Leaked: {} of {}: nothing refers to them any more.\n",
                 number_of(all.leaked, "block"), number_of(all.leaked_bytes, "byte"));
  if (all.inside != 0)
    fmt::format_to(out,
                   "Perhaps leaked: {} of {}: only pointers into their middle refer to them.\n",
                   number_of(all.inside, "block"), number_of(all.inside_bytes, "byte"));
  fmt::format_to(out, "The search of {} took {:.3f} s.\n", number_of(file.searched_bytes, "byte"),
                 static_cast<double>(file.search_ns) / 1e9);
}

}  // namespace

std::string duration(uint64_t nanoseconds) {
  return fmt::format("{:.6f}", static_cast<double>(nanoseconds) / 1e9);
}

std::string_view name_of(pi::heap_log::Kind kind) {
  return kind_names[kind];
}

std::optional<By> by_named(std::string_view word) {
  const auto* found = std::ranges::find(words, word, &Word::word);
  if (found == std::end(words)) return std::nullopt;
  return found->by;
}

bool is_of_waits(By by) {
  return by == By::wait_time || by == By::waits;
}

uint64_t value_of(const Row& row, By by) {
  switch (by) {
    case By::live:
      return row.live_bytes;
    case By::live_count:
      return row.live();
    case By::leaked:
      return row.leaked_bytes;
    case By::allocated:
      return row.bytes;
    case By::allocations:
      return row.allocations;
    case By::peak:
      return row.peak_bytes;
    case By::wait_time:
      return row.nanoseconds;
    case By::waits:
      break;
  }
  return row.waits;
}

std::vector<std::string> losses_of(const HeapFile& file, const CallPaths& paths,
                                   bool needs_search) {
  std::vector<std::string> all;
  const auto lost = [&](Loss loss, std::string_view what) {
    if (file.lost[loss] != 0) all.push_back(fmt::format("{} {}", file.lost[loss], what));
  };
  lost(lost_paths, "allocations and waits have no call path: no space in the log");
  lost(lost_blocks, "allocations count as freed at once: no memory to remember them");
  lost(lost_mappings, "mapped files have no names: no space in the log");
  lost(unseen_frees, "blocks were freed in a way that was not seen");
  lost(lost_calls, "calls are not counted: the process made them faster than they were read");
  if (file.search > searched || (needs_search && file.search == not_searched))
    all.push_back(fmt::format("which blocks are leaked: {}", search_problem(file)));
  uint64_t broken = 0;
  for (const Row& row : paths.rows)
    if (row.end == unknown) broken += row.allocations + row.waits;
  if (broken != 0)
    all.push_back(
        fmt::format("{} allocations and waits have a call path that ends too early", broken));
  if (!file.damage.empty()) all.push_back("the rest of the log: " + file.damage);
  return all;
}

std::string text_report(const HeapFile& file, const CallPaths& paths,
                        const ReportOptions& options) {
  std::string text = fmt::format(
      "{}\n{}\n", file.command.empty() ? "(no command line)" : file.command, process_line(file));
  append_sums(text, file);
  append_leaks(text, file, paths);
  for (const std::string& loss : losses_of(file, paths, false))
    fmt::format_to(std::back_inserter(text), "Missing: {}.\n", loss);
  append_heap(text, file, paths, options);
  append_waits(text, paths, options);
  return text;
}

std::string overview(const std::vector<HeapFile>& files) {
  std::string text = fmt::format("{:>7} {:>11} {:>14} {:>14} {:>14} {:>14} {:>12}  {}\n", "PID",
                                 "ALLOCATIONS", "ALLOCATED", "LIVE BYTES", "MOST AT ONCE",
                                 "LEAKED BYTES", "LOCK WAIT s", "LOG, COMMAND");
  for (const HeapFile& file : files) {
    const Sums sums = sums_of(file);
    fmt::format_to(std::back_inserter(text),
                   "{:>7} {:>11} {:>14} {:>14} {:>14} {:>14} {:>12}  {} {:.60}\n", file.pid,
                   sums.allocations, sums.bytes, file.live_bytes, file.peak_bytes,
                   file.search == searched ? std::to_string(sums.leaked_bytes) : "-",
                   duration(sums.nanoseconds), file.path, file.command);
  }
  return text;
}

}  // namespace heapstats
