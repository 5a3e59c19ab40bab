// SPDX-License-Identifier: MIT
// logrt: the methods of a log-rt, its changes from another one, and limits.
#include <cli.h>
#include <fmt/format.h>
#include <pi/files.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "budget.h"
#include "call_flow.h"
#include "changes.h"
#include "tables.h"
#include "text_file.h"

namespace {

namespace cli = pi::cli;
using namespace logrt;

constexpr int exit_over_budget = 4;

cli::OptionTable option_table() {
  cli::OptionTable table(
      {"logrt [OPTION]... FILE\n       logrt --diff [OPTION]... A B",
       "Lists the methods of a call flow that JProf (CALLTREE,JSON) or libhookit has "
       "written, with their calls and what they cost without (BASE) and with their "
       "callees (CUM), compares two call flows, and checks limits. Files are log-rt "
       "in JSON.",
       {"logrt log-rt.1_4711.json", "logrt --by package log-rt.1_4711.json",
        "logrt --diff before.json after.json", "logrt --budget flow-limits.txt log-rt.1_4711.json"},
       "Exit status: 0 done; 1 a file cannot be read or written; 3 the report was "
       "written, but the file lacks calls that were lost; 4 a limit is exceeded; 255 "
       "wrong usage."});
  table.group("Options")("diff", "compare two files: what changed from A to B")(
      "by", cli::text("method|class|package", "method"), "what a row is")(
      "metric", cli::text("NAME"), "the metric; default: the first one of the file")(
      "sort", cli::text("base|cum|calls", "base"), "largest first by this column")(
      "lines", cli::text("N", "40"), "rows of the table; 0: all")(
      "budget", cli::text("FILE"), "check the limits in FILE; see logrt(1)")("json", "print JSON");
  table.positional("file", 2);
  return table;
}

int misuse(const std::string& text) {
  cli::error(text);
  cli::hint("logrt --help lists the options.");
  return cli::exit_usage;
}

int fail(const pi::Error& problem) {
  cli::error(problem.message);
  return cli::exit_failure;
}

int print(const std::string& text, int status) {
  const int reason = pi::write_all(STDOUT_FILENO, pi::text_bytes(text));
  if (reason == 0 || reason == EPIPE) return status;
  return fail({-1, fmt::format("cannot write to the standard output: {}.", std::strerror(reason))});
}

// Sets options; returns an error message, or "".
std::string take_options(const cli::Values& given, ReportOptions& options) {
  const auto level = level_named(given.text("by"));
  if (!level) return fmt::format("--by {} is none of method, class and package.", given.text("by"));
  options.level = *level;
  const std::string& by = given.text("sort");
  if (by == "base")
    options.sort = ReportOptions::Sort::base;
  else if (by == "cum")
    options.sort = ReportOptions::Sort::cumulated;
  else if (by == "calls")
    options.sort = ReportOptions::Sort::calls;
  else
    return fmt::format("--sort {} is none of base, cum and calls.", by);
  const std::string& lines = given.text("lines");
  const auto [end, error] =
      std::from_chars(lines.data(), lines.data() + lines.size(), options.lines);
  if (error != std::errc{} || end != lines.data() + lines.size())
    return fmt::format("--lines {} is no number from 0.", lines);
  return "";
}

// The status of a report: 3 with a warning if the call flow is incomplete.
int status_of(const CallFlow& flow) {
  if (flow.lost.empty()) return cli::exit_good;
  cli::warning(fmt::format("{} lacks what was lost: {}.", flow.path, flow.lost));
  return cli::exit_damaged;
}

int make_totals(const CallFlow& flow, const ReportOptions& options, bool json,
                const std::optional<std::string>& budget) {
  std::vector<LimitResult> results;
  if (budget) {
    const auto text = pi::read_text_file(*budget, pi::written_by_hand);
    if (!text) return fail(text.error());
    const auto limits = parse_budget(*text, *budget);
    if (!limits) return fail(limits.error());
    auto measured = measure(*limits, flow);
    if (!measured) return fail(measured.error());
    results = std::move(*measured);
  }
  auto totals = total(flow, options.level);
  if (!totals) return fail(totals.error());
  const auto report = json ? totals_json : totals_text;
  const std::string text = report(flow, std::move(*totals), options, results);
  int status = status_of(flow);
  if (std::ranges::any_of(results, &LimitResult::exceeded)) status = exit_over_budget;
  return print(text, status);
}

int make_diff(const CallFlow& a, const CallFlow& b, const ReportOptions& options, bool json) {
  if (const std::string why = incomparable(a, b); !why.empty()) return fail({-1, why});
  const auto of_a = total(a, options.level), of_b = total(b, options.level);
  if (!of_a) return fail(of_a.error());
  if (!of_b) return fail(of_b.error());
  const auto all = changes(*of_a, *of_b, a.error_bound, b.error_bound);
  const auto report = json ? changes_json : changes_text;
  return print(report(a, b, all, options), std::max(status_of(a), status_of(b)));
}

int run(const std::vector<std::string>& arguments) {
  const auto outcome = option_table().parse(arguments);
  if (outcome.exit) return *outcome.exit;
  const cli::Values& given = outcome.values;
  ReportOptions options;
  if (const std::string problem = take_options(given, options); !problem.empty())
    return misuse(problem);
  const auto& files = given.words("file");
  const bool diff = given.has("diff");
  if (files.size() != (diff ? 2 : 1))
    return misuse(diff ? "--diff compares two files." : "one file is to be named.");
  if (diff && given.has("budget")) return misuse("--budget checks one file, without --diff.");
  std::vector<CallFlow> flows;
  for (const std::string& file : files) {
    auto flow = read_call_flow(file, given.text("metric"));
    if (!flow) return fail(flow.error());
    flows.push_back(std::move(*flow));
  }
  if (diff) return make_diff(flows[0], flows[1], options, given.has("json"));
  return make_totals(flows[0], options, given.has("json"),
                     given.has("budget") ? std::optional(given.text("budget")) : std::nullopt);
}

}  // namespace

int main(int count, char** words) {
  return cli::run_tool("logrt", count, words, run);
}
