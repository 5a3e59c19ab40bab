// SPDX-License-Identifier: MIT
// heapstats: allocations and lock waits by call path, from logs of run.heap.
#include <cli.h>
#include <fmt/format.h>
#include <pi/files.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "call_paths.h"
#include "heap_file.h"
#include "report.h"

namespace {

namespace cli = pi::cli;
using namespace heapstats;

constexpr std::string_view orders =
    "live, live-count, leaked, allocated, allocations, peak, wait-time or waits";

cli::OptionTable option_table() {
  cli::OptionTable table(
      {"heapstats [OPTION]... FILE...\n       heapstats --diff [OPTION]... A B",
       "Shows by call path what a program has allocated and not freed, and how long it has waited "
       "for locks. Files are logs of run.heap, also of programs that still run. Of several files "
       "it "
       "shows one line each.",
       {"heapstats heap.4711.1", "heapstats --sort=peak --lines=20 heap.4711.1",
        "heapstats --folded=live heap.4711.1", "heapstats --diff heap.4711.1 heap.4712.1"},
       "Exit status: 0 done; 1 a file cannot be read; 3 the report was written, but the log lacks "
       "something; 255 wrong usage."});
  table.group("Options")(
      "sort", cli::text("live|live-count|leaked|allocated|allocations|peak|wait-time|waits"),
      "largest first: bytes (the default) or blocks that are not freed, leaked bytes; bytes or "
      "number of allocations, bytes at once; time or number of waits")(
      "by", cli::text("path|function", "path"), "what a row is: function is the innermost one")(
      "lines", cli::text("N", "10"), "rows of each table; 0: all")("depth", cli::text("N", "30"),
                                                                   "functions of each row; 0: all")(
      "folded", cli::text("live|live-count|leaked|allocated|allocations|peak|wait-time|waits"),
      "print folded stacks, the input of flame graphs")("json", "print JSON")(
      "diff", "compare two logs: what B has more or less than A");
  table.positional("file", -1);
  return table;
}

int misuse(const std::string& text) {
  cli::error(text);
  cli::hint("heapstats --help lists the options.");
  return cli::exit_usage;
}

int print(const std::string& text, int status) {
  const int reason = pi::write_all(STDOUT_FILENO, pi::text_bytes(text));
  if (reason == 0 || reason == EPIPE) return status;
  cli::error(fmt::format("cannot write to the standard output: {}.", std::strerror(reason)));
  return cli::exit_failure;
}

bool take_number(const std::string& text, size_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

// The status of a report: 3 with a warning if the log lacks something.
int status_of(const HeapFile& file, const CallPaths& paths, By wanted) {
  const auto losses = losses_of(file, paths, wanted == By::leaked);
  for (const std::string& loss : losses) cli::warning(fmt::format("{}: {}.", file.path, loss));
  return losses.empty() ? cli::exit_good : cli::exit_damaged;
}

struct Arguments {
  ReportOptions options;
  std::optional<By> folded;
  bool by_function = false, json = false, diff = false;
};

// Returns an error message, or "".
std::string take_options(const cli::Values& given, Arguments& arguments) {
  const std::string sort = given.has("sort") ? given.text("sort") : "live";
  const auto order = by_named(sort);
  if (!order) return fmt::format("--sort is {}, not \"{}\".", orders, sort);
  arguments.options.sort = *order;
  const std::string& by = given.text("by");
  if (by != "path" && by != "function")
    return fmt::format("--by {} is neither path nor function.", by);
  arguments.by_function = by == "function";
  for (const auto& [name, number] :
       {std::pair("lines", &arguments.options.lines), std::pair("depth", &arguments.options.depth)})
    if (!take_number(given.text(name), *number))
      return fmt::format("--{} {} is no number from 0.", name, given.text(name));
  if (given.has("folded")) {
    arguments.folded = by_named(given.text("folded"));
    if (!arguments.folded)
      return fmt::format("--folded is {}, not \"{}\".", orders, given.text("folded"));
  }
  arguments.json = given.has("json");
  arguments.diff = given.has("diff");
  if (arguments.json + arguments.diff + arguments.folded.has_value() > 1)
    return "only one of --json, --folded and --diff is possible.";
  return "";
}

int report(const HeapFile& file, const Arguments& arguments) {
  const CallPaths paths = call_paths(file, arguments.by_function);
  const By wanted = arguments.folded.value_or(arguments.options.sort);
  const int status = status_of(file, paths, arguments.json ? By::live : wanted);
  if (arguments.json) return print(json_report(file, paths), status);
  if (arguments.folded) return print(folded(paths, *arguments.folded), status);
  return print(text_report(file, paths, arguments.options), status);
}

int compare(const HeapFile& a, const HeapFile& b, const Arguments& arguments) {
  const CallPaths of_a = call_paths(a, arguments.by_function);
  const CallPaths of_b = call_paths(b, arguments.by_function);
  const By by = arguments.options.sort;
  const int status = std::max(status_of(a, of_a, by), status_of(b, of_b, by));
  return print(text_changes(a, of_a, b, of_b, arguments.options), status);
}

int run(const std::vector<std::string>& words) {
  const auto outcome = option_table().parse(words);
  if (outcome.exit) return *outcome.exit;
  Arguments arguments;
  if (const std::string problem = take_options(outcome.values, arguments); !problem.empty())
    return misuse(problem);
  const auto& names = outcome.values.words("file");
  if (arguments.diff && names.size() != 2) return misuse("--diff compares two files.");
  if (names.empty()) return misuse("a file is to be named.");
  if (names.size() != 1 && (arguments.json || arguments.folded))
    return misuse("--json and --folded are for one file.");
  std::vector<HeapFile> files;
  for (const std::string& name : names) {
    auto file = read_heap_file(name);
    if (!file) {
      cli::error(file.error().message);
      return cli::exit_failure;
    }
    files.push_back(std::move(*file));
  }
  if (arguments.diff) return compare(files[0], files[1], arguments);
  if (files.size() == 1) return report(files[0], arguments);
  return print(overview(files), cli::exit_good);
}

}  // namespace

int main(int count, char** words) {
  return cli::run_tool("heapstats", count, words, run);
}
