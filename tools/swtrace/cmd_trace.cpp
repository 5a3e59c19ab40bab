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

int change_majors(const Words& words, const char* verb, const char* summary) {
  auto table = plain(
      fmt::format("swtrace {} [MAJOR]...", verb),
      fmt::format("{} Without MAJOR: all. MAJOR is decimal, 0octal or 0xhex, 1 to "
                  "254, or a name: exception, interrupt, syscall, dispatch, switch, mte, or "
                  "tprof for all that a tprof report needs.",
                  summary),
      {fmt::format("swtrace {} tprof dispatch", verb), fmt::format("swtrace {} 0x10 25", verb)});
  constexpr int max_majors = 256;
  table.positional("major", max_majors);
  const auto outcome = table.parse(words);
  if (outcome.exit) return *outcome.exit;
  Request request{verb};
  for (const auto& word : positionals(outcome, "major")) {
    const auto major = parse_major(word);
    if (!major) {
      cli::error(fmt::format("'{}' is not a major: give 1 to 254 or a name such as tprof.", word));
      return cli::exit_usage;
    }
    request.push_back(std::to_string(*major));
  }
  return ask_and_report(request);
}

}  // namespace

int cmd_on(const Words& words) {
  return without_arguments(words, "on", "Starts recording with empty buffers.");
}

int cmd_suspend(const Words& words) {
  return without_arguments(words, "suspend",
                           "Has nothing but names recorded, until 'swtrace resume'.");
}

int cmd_resume(const Words& words) {
  return without_arguments(words, "resume", "Ends a suspension.");
}

int cmd_discard(const Words& words) {
  return without_arguments(words, "discard",
                           "Throws away what was recorded since 'swtrace on'; recording goes on.");
}

int cmd_free(const Words& words) {
  return without_arguments(
      words, "free", "Ends the recorder and gives its buffers back; what was not written is lost.");
}

int cmd_off(const Words& words) {
  const auto outcome =
      plain(
          "swtrace off",
          "Stops recording. 'swtrace get' then writes the buffers; in continuous mode the file is "
          "complete.",
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
  return change_majors(words, "enable", "Has records of these majors recorded.");
}

int cmd_disable(const Words& words) {
  return change_majors(words, "disable", "Has records of these majors left out.");
}

int cmd_maj(const Words& words) {
  const auto outcome =
      plain("swtrace maj", "Lists the majors that are enabled.", {"swtrace maj"}).parse(words);
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
      "swtrace stacks user|kernel|both|off [-depth N]",
      "Has ticks and dispatches carry the stack of the user's code, of the kernel's or both, from "
      "the next 'on' on. User stacks follow frame pointers. Only while the trace is off.",
      {"swtrace stacks both", "swtrace stacks user -depth 16"});
  table.group("Stacks")("depth", cli::text("N", "64"),
                        "frames of the kernel and of the user each, 1 to 127");
  table.positional("which", 1);
  const auto outcome = table.parse(words);
  if (outcome.exit) return *outcome.exit;
  const auto which = positionals(outcome, "which");
  const std::string& text = outcome.values.text("depth");
  constexpr int max_depth = 127;
  const auto depth = parse_number(text, max_depth);
  constexpr const char* choices[] = {"off", "kernel", "user", "both"};  // as PI_STACKS_*
  const auto choice = which.empty()
                          ? std::end(choices)
                          : std::find(std::begin(choices), std::end(choices), which.front());
  if (choice == std::end(choices) || !depth || *depth == 0) {
    cli::error(choice == std::end(choices)
                   ? "Say which stacks: user, kernel, both or off."
                   : fmt::format("-depth: '{}' is not a depth from 1 to {}.", text, max_depth));
    return cli::exit_usage;
  }
  return ask_and_report(
      {"stacks", std::to_string(choice - std::begin(choices)), std::to_string(*depth)});
}

int cmd_setrate(const Words& words) {
  auto table = plain(
      "swtrace setrate [N]",
      "Sets the rate of tprof ticks, 1 to 10,000 a second and CPU; 0 or nothing: 100. Ticks are "
      "by time again after 'swtrace event'. Only while the trace is off.",
      {"swtrace setrate 1000"});
  table.positional("rate", 1);
  const auto outcome = table.parse(words);
  if (outcome.exit) return *outcome.exit;
  const auto rates = positionals(outcome, "rate");
  constexpr int max_rate = 10000;
  const auto rate = rates.empty() ? std::optional(0) : parse_number(rates.front(), max_rate);
  if (!rate) {
    cli::error(
        fmt::format("'{}' is not a rate: give 1 to {} ticks a second.", rates.front(), max_rate));
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
