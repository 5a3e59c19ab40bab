// SPDX-License-Identifier: MIT
// swtrace on, off, free, enable, disable, maj, setrate, stacks: sends requests to the recorder and
// prints the results.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "cli.h"
#include "commands.h"
#include "perfutil.h"

namespace pi::swtrace {
namespace {

constexpr char exit_codes[] = "Exit status: 0 done, 1 failed, 255 wrong use.";

cli::OptionTable plain(const std::string& synopsis, const std::string& summary,
                       std::vector<std::string> examples) {
  return cli::OptionTable({synopsis, summary, std::move(examples), exit_codes});
}

std::vector<std::string> positionals(const cli::OptionTable::Outcome& outcome, const char* name) {
  return outcome.values.has(name) ? outcome.values.words(name) : std::vector<std::string>{};
}

int without_arguments(const Words& words, const char* name, const char* summary) {
  const auto outcome =
      plain(fmt::format("swtrace {}", name), summary, {fmt::format("swtrace {}", name)})
          .parse(words);
  return outcome.exit ? *outcome.exit : ask_and_report({name});
}

// result: the participle of the verb, for the answer.
int change_majors(const Words& words, const char* verb, const char* result, const char* summary) {
  auto table = plain(
      fmt::format("swtrace {} [MAJOR]...", verb),
      fmt::format("{} A major is an event class. MAJOR is a name: exception (0x03), interrupt "
                  "(0x04), syscall (0x05), dispatch (0x12, context switches), switch (0x13), mte "
                  "(0x19, names of code and processes), tprof (0x10 and 0x19, all that a tprof "
                  "report needs); or a number from 1 to 254: 0x10 is hexadecimal, 020 is octal, 16 "
                  "is decimal. Without MAJOR the command applies to all majors.",
                  summary),
      {fmt::format("swtrace {} tprof dispatch", verb), fmt::format("swtrace {} 0x10 0x19", verb)});
  constexpr int max_majors = 256;
  table.positional("major", max_majors);
  const auto outcome = table.parse(words);
  if (outcome.exit) return *outcome.exit;
  Request request{verb};
  std::string changed;
  for (const auto& word : positionals(outcome, "major")) {
    const auto major = parse_major(word);
    if (!major) {
      cli::error(
          fmt::format("'{}' is not a major. Give a number from 1 to 254 (0x12 is hexadecimal) or a "
                      "name such as tprof or dispatch.",
                      word));
      return cli::exit_usage;
    }
    request.push_back(std::to_string(*major));
    changed += (changed.empty() ? "" : ", ") + major_text(*major);
  }
  const int status = ask_and_report(request);
  if (status == cli::exit_good)
    fmt::print("{}: {}\n", result, changed.empty() ? major_text(ALL_MAJORS) : changed);
  return status;
}

// "auto", "tables" or "fp"; nothing for another word, with a message.
std::optional<std::string> read_way(const cli::Values& values) {
  if (!values.has("by")) return "auto";
  const std::string& text = values.text("by");
  if (text == "tables" || text == "fp") return text;
  cli::error(fmt::format("-by: '{}' is not one of tables, fp.", text));
  return std::nullopt;
}

}  // namespace

int cmd_on(const Words& words) {
  return without_arguments(words, "on", "Empties the buffers and starts recording.");
}

int cmd_suspend(const Words& words) {
  return without_arguments(words, "suspend",
                           "Pauses recording until 'swtrace resume'. Names (MTE) are still "
                           "recorded.");
}

int cmd_resume(const Words& words) {
  return without_arguments(words, "resume", "Continues recording after 'swtrace suspend'.");
}

int cmd_discard(const Words& words) {
  return without_arguments(words, "discard",
                           "Deletes the records since 'swtrace on', except for names (MTE). "
                           "Recording continues.");
}

int cmd_free(const Words& words) {
  return without_arguments(
      words, "free",
      "Ends the recorder and releases its buffers. A trace that is not in a file yet is lost.");
}

int cmd_off(const Words& words) {
  const auto outcome =
      plain(
          "swtrace off",
          "Stops recording. After this, 'swtrace get' writes the buffers to a file. In continuous "
          "mode the file is now complete.",
          {"swtrace off"})
          .parse(words);
  if (outcome.exit) return *outcome.exit;
  const auto reply = ask({"off"});
  if (!reply) return cli::exit_failure;
  if (reply->rc == PU_SUCCESS) {
    if (const auto file = value_of(reply->text, "file"); !file.empty()) print_file_sizes(file);
    return cli::exit_good;
  }
  if (reply->rc == PU_ERROR_BUFFER_FULL) {
    cli::warning(reply->text);
    return cli::exit_good;
  }
  cli::error(reply->text);
  return cli::exit_failure;
}

int cmd_enable(const Words& words) {
  return change_majors(words, "enable", "Enabled", "Enables the recording of majors.");
}

int cmd_disable(const Words& words) {
  return change_majors(words, "disable", "Disabled", "Disables the recording of majors.");
}

int cmd_maj(const Words& words) {
  const auto outcome =
      plain("swtrace maj", "Lists the enabled majors (event classes).", {"swtrace maj"})
          .parse(words);
  if (outcome.exit) return *outcome.exit;
  const auto reply = ask({"majors"});
  if (!reply) return cli::exit_failure;
  if (reply->rc != PU_SUCCESS) {
    cli::error(reply->text);
    return cli::exit_failure;
  }
  fmt::print(" Enabled Major Trace Hooks\n   Decimal   Hexadecimal\n");
  for (const auto& text : values_of(reply->text, "major"))
    if (const auto major = parse_number(text, PI_MAJORS_TPROF))
      fmt::print("{:10}{:>14}\n", *major, fmt::format("{:#x}", *major));
  return cli::exit_good;
}

int cmd_stacks(const Words& words) {
  auto table = plain(
      "swtrace stacks user|kernel|both|off [-depth N] [-by tables|fp] [-bytes N]",
      "Selects which stacks are recorded with ticks (samples) and dispatches (context switches): "
      "those of user code, of the kernel, or both. User stacks are unwound by the tables that "
      "programs contain; with perf, those of dispatches follow frame pointers. Works only while "
      "the trace is off.",
      {"swtrace stacks both", "swtrace stacks user -depth 16", "swtrace stacks both -by fp"});
  table.group("Stacks")  //
      ("depth", cli::text("N", "64"),
       "maximum number of user frames, 1 to 1023, and of kernel frames (at most 127)")  //
      ("by", cli::text("tables|fp"),
       "how user stacks are found: by unwind tables (default), or by frame pointers")  //
      ("bytes", cli::text("N", "32768"),
       "with tables: how many bytes of a stack are copied, 512 to 61440; deeper stacks are cut");
  table.positional("which", 1);
  const auto outcome = table.parse(words);
  if (outcome.exit) return *outcome.exit;
  const auto which = positionals(outcome, "which");
  const std::string& text = outcome.values.text("depth");
  constexpr int max_depth = PI_STACK_DEPTH_MAX;
  const auto depth = parse_number(text, max_depth);
  constexpr const char* choices[] = {"off", "kernel", "user", "both"};  // as PI_STACKS_*
  const auto choice = which.empty()
                          ? std::end(choices)
                          : std::find(std::begin(choices), std::end(choices), which.front());
  if (choice == std::end(choices) || !depth || *depth == 0) {
    cli::error(
        choice == std::end(choices)
            ? "Give which stacks to record: user, kernel, both or off."
            : fmt::format("-depth: '{}' is not a number of frames from 1 to {}.", text, max_depth));
    return cli::exit_usage;
  }
  const auto by = read_way(outcome.values);
  const auto bytes = parse_number(outcome.values.text("bytes"), PI_STACK_BYTES_MAX);
  if (!by) return cli::exit_usage;
  const bool has_user_stacks = choice - std::begin(choices) >= PI_STACKS_USER;
  if (!has_user_stacks && (outcome.values.given("by") || outcome.values.given("bytes"))) {
    cli::error("-by and -bytes are for user stacks: give user or both.");
    return cli::exit_usage;
  }
  if (*by == "fp" && outcome.values.given("bytes")) {
    cli::error("-bytes is for stacks by tables; frame pointers need no copy of the stack.");
    return cli::exit_usage;
  }
  if (!bytes || *bytes < PI_STACK_BYTES_MIN || *bytes % 8 != 0) {
    cli::error(fmt::format("-bytes: '{}' is not a multiple of 8 from {} to {}.",
                           outcome.values.text("bytes"), PI_STACK_BYTES_MIN, PI_STACK_BYTES_MAX));
    return cli::exit_usage;
  }
  return ask_and_report({"stacks", std::to_string(choice - std::begin(choices)),
                         std::to_string(*depth), *by, std::to_string(*bytes)});
}

int cmd_setrate(const Words& words) {
  auto table = plain(
      "swtrace setrate [N]",
      "Sets the number of ticks (samples) a second on each CPU, from 1 to 10,000. The default is "
      "100, also for N = 0. After 'swtrace event' this selects ticks by time again. Works only "
      "while the trace is off.",
      {"swtrace setrate 1000"});
  table.positional("rate", 1);
  const auto outcome = table.parse(words);
  if (outcome.exit) return *outcome.exit;
  const auto rates = positionals(outcome, "rate");
  constexpr int max_rate = 10000;
  const auto rate = rates.empty() ? std::optional(0) : parse_number(rates.front(), max_rate);
  if (!rate) {
    cli::error(
        fmt::format("'{}' is not a rate. Give 1 to {} ticks a second.", rates.front(), max_rate));
    return cli::exit_usage;
  }
  const auto reply = ask({"rate", std::to_string(*rate)});
  if (!reply) return cli::exit_failure;
  if (reply->rc != PU_SUCCESS) {
    cli::error(reply->text);
    return cli::exit_failure;
  }
  const double interval_ns = std::stod("0" + value_of(reply->text, "tick_ns"));
  fmt::print("Tprof rate: {:.2f} ticks/second, interval {:.2f} microseconds\n",
             interval_ns > 0 ? 1e9 / interval_ns : 0.0, interval_ns / 1e3);
  return cli::exit_good;
}

}  // namespace pi::swtrace
