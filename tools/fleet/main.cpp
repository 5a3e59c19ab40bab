// SPDX-License-Identifier: MIT
// pitrace-fleet: questions about the traces of many hosts, from the tables of post --fleet.
#include <cli.h>
#include <fmt/format.h>
#include <pi/files.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>

#include "days.h"
#include "damaged_tables.h"
#include "questions.h"
#include "resolve.h"

namespace {

namespace cli = pi::cli;
using namespace fleet;

cli::OptionTable option_table() {
  cli::OptionTable table(
      {"pitrace-fleet report|top|diff|flame|resolve|compact [OPTION]... FOLDER",
       "Answers questions about the traces of many hosts, whose tables post --fleet has written "
       "below FOLDER: report and top show where the time went, diff what changed, flame prints "
       "folded stacks, the input of flame graphs. resolve gets names for functions that had none "
       "on their hosts. compact adds up each host's day that is over, so that questions about "
       "whole days read much less. DuckDB's library, libduckdb.so, does the work.",
       {"pitrace-fleet report --since 1d /srv/fleet",
        "pitrace-fleet top --by service --where kernel=6.12* /srv/fleet",
        "pitrace-fleet diff --at '2026-11-24 10:00' --where service=shop /srv/fleet",
        "pitrace-fleet diff --a build=91ab --b build=c0de /srv/fleet",
        "pitrace-fleet flame --where host=web1,host=web2 /srv/fleet",
        "pitrace-fleet report --since 1d --html fleet.html /srv/fleet",
        "pitrace-fleet resolve --debug-path /srv/debug /srv/fleet",
        "pitrace-fleet compact /srv/fleet"},
       "Exit status: 0 done; 1 nothing is selected, or a file or DuckDB cannot be used; 255 wrong "
       "usage."});
  table.group("What is selected")(
      "since", cli::text("TIME"),
      "from this time on: 2026-11-24, '2026-11-24 10:30' (UTC), or 3d, 12h, 30m "
      "for that long ago")("until", cli::text("TIME"), "until this time")(
      "where", cli::repeated("KEY=VALUE"),
      "ticks with this value of host, kernel, service, cgroup, process, thread, module, function "
      "or build; * "
      "stands for any text. Several values of one key, after commas or options of their own, are "
      "alternatives. "
      "build=ID selects processes that ran code of a file whose build-id begins with ID");
  table.group("diff")("at", cli::text("TIME"), "A is before, B from this time on")(
      "a", cli::repeated("KEY=VALUE"), "further conditions on A, as for --where")(
      "b", cli::repeated("KEY=VALUE"), "further conditions on B")(
      "clip", cli::text("PERCENT", "0.1"), "leave out what has less of A and of B");
  table.group("What is shown")("by", cli::text("KEY", "function"),
                               "what a row of top is: one of the keys above")(
      "lines", cli::text("N", "20"), "rows of each table, or of those that can be chance; 0: all")(
      "json", "print JSON")(
      "html", cli::text("FILE"),
      "with report, flame and diff: write the HTML page of post --html instead, which a browser "
      "opens");
  table.group("resolve")(
      "debug-path", cli::text("DIR[:DIR...]"),
      "folders with debug files, which a build-id identifies: as in /usr/lib/debug, which is "
      "always searched, or with the names of their programs. Others come from the servers in "
      "DEBUGINFOD_URLS");
  table.group("DuckDB")(
      "engine", cli::text("FILE"),
      "its library; else PITRACE_DUCKDB names it, or the loader finds libduckdb.so")(
      "memory", cli::text("SIZE"),
      "the most that it uses, such as 2GB (default: 80 % of the machine)");
  table.positional("words", 2);
  return table;
}

int misuse(const std::string& text) {
  cli::error(text);
  cli::hint("pitrace-fleet --help lists the options.");
  return cli::exit_usage;
}

int fail(const pi::Error& problem) {
  cli::error(problem.message);
  return cli::exit_failure;
}

template <class Number>
bool take_number(const std::string& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

// Returns an error message, or "".
std::string take_times(const cli::Values& given, Question& question) {
  const int64_t now = std::time(nullptr);
  for (const auto& [name, time] :
       {std::pair("since", &question.period.since), std::pair("until", &question.period.until),
        std::pair("at", &question.at)}) {
    if (!given.has(name)) continue;
    const auto parsed = parse_time(given.text(name), now);
    if (!parsed) return fmt::format("--{}: {}", name, parsed.error().message);
    *time = *parsed;
  }
  return question.period.since < question.period.until ? "" : "--since is not before --until.";
}

// Returns an error message, or "".
std::string take_options(const cli::Values& given, const std::string& what, Question& question) {
  if (const std::string problem = take_times(given, question); !problem.empty()) return problem;
  question.where = given.words("where");
  question.a = given.words("a");
  question.b = given.words("b");
  for (const auto* words : {&question.where, &question.a, &question.b})
    if (const auto parsed = condition(*words); !parsed) return parsed.error().message;
  const bool sides = given.has("at") || given.has("a") || given.has("b");
  if (what == "diff" && !sides)
    return "diff compares two parts: name them by --at, or by --a and --b.";
  if (what != "diff" && (sides || given.given("clip")))
    return "--at, --a, --b and --clip go with diff.";
  question.by = given.text("by");
  if (!is_level(question.by)) return fmt::format("--by takes one of {}.", levels);
  if (given.given("by") && what != "top") return "--by goes with top.";
  if (!take_number(given.text("lines"), question.lines)) return "--lines takes a number from 0.";
  if (!take_number(given.text("clip"), question.clip_percent) || !(question.clip_percent >= 0) ||
      question.clip_percent > 100)
    return "--clip takes a percentage from 0 to 100.";
  question.json = given.has("json");
  if (::isatty(STDOUT_FILENO) == 1) question.width = cli::columns(STDOUT_FILENO);
  if (given.has("html")) question.html = given.text("html");
  question.paths = what == "flame" || given.has("html");
  if (given.has("html") && (question.html.empty() || what == "top" || question.json))
    return "--html takes a file, and goes with report, flame and diff, and not with --json.";
  if ((what == "resolve" || what == "compact") &&
      (given.has("since") || given.has("until") || given.has("where") || given.given("lines") ||
       question.json))
    return what +
           " is about all of FOLDER: of the options --engine, --memory and for resolve "
           "--debug-path go with it.";
  if (given.has("debug-path") && what != "resolve") return "--debug-path goes with resolve.";
  if (question.json && what == "flame") return "--json does not go with flame.";
  return "";
}

int print(const Answer& answer) {
  for (const std::string& warning : answer.warnings) cli::warning(warning);
  const int reason = pi::write_all(STDOUT_FILENO, pi::text_bytes(answer.text));
  if (reason == 0 || reason == EPIPE) return cli::exit_good;
  cli::error(fmt::format("cannot write to the standard output: {}.", std::strerror(reason)));
  return cli::exit_failure;
}

int run(const std::vector<std::string>& words) {
  const auto outcome = option_table().parse(words);
  if (outcome.exit) return *outcome.exit;
  const cli::Values& given = outcome.values;
  const auto& named = given.words("words");
  if (named.size() != 2) return misuse("a question and a folder are to be named.");
  const std::string& what = named[0];
  const bool resolves = what == "resolve", compacts = what == "compact";
  const auto answer_of = what == "report"  ? report
                         : what == "top"   ? top
                         : what == "flame" ? flame
                         : what == "diff"  ? diff
                                           : nullptr;
  if (!answer_of && !resolves && !compacts)
    return misuse(
        fmt::format("'{}' is no question: report, top, diff, flame, resolve or compact.", what));
  Question question;
  question.folder = named[1];
  if (const std::string problem = take_options(given, what, question); !problem.empty())
    return misuse(problem);
  auto engine = Engine::open({given.text("engine"), given.text("memory")});
  if (!engine) {
    fail(engine.error());
    if (engine.error().code == Engine::failed) return cli::exit_failure;
    cli::hint(
        "DuckDB's library is in the C/C++ download of duckdb.org, and in npm's package "
        "@duckdb/node-bindings-linux-x64. Name it by --engine or PITRACE_DUCKDB.");
    return cli::exit_failure;
  }
  const auto answer = resolves   ? resolve(**engine, question.folder, given.text("debug-path"))
                      : compacts ? compact(**engine, question.folder)
                                 : answer_of(**engine, question);
  if (answer) {
    // With its private folder, which a closed pipe would leave behind.
    engine->reset();
    return print(*answer);
  }
  fail(answer.error());
  if (const std::string hint = hint_on_damage(**engine, question, answer.error()); !hint.empty())
    cli::hint(hint);
  return cli::exit_failure;
}

}  // namespace

int main(int count, char** words) {
  return cli::run_tool("pitrace-fleet", count, words, run);
}
