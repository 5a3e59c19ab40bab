// SPDX-License-Identifier: MIT
// ptt: counts of each thread. Finds the command; prints help.
#include <algorithm>

#include <fmt/format.h>

#include "cli.h"
#include "commands.h"

namespace {

namespace cli = pi::cli;
using pi::ptt::Words;

struct Command {
  const char* name;
  const char* arguments;
  const char* summary;
  int (*run)(const Words&);
};

constexpr Command commands[] = {
    {"init", "[METRIC]...", "start to count", pi::ptt::cmd_init},
    {"term", "", "stop, also if another process started it", pi::ptt::cmd_term},
    {"info", "[--json]", "show whether PTT is active, and its metrics", pi::ptt::cmd_info},
    {"dump", "[OPTION]...", "show the counts of each thread", pi::ptt::cmd_dump},
    {"ints", "", "charge interrupts to an account of their own", pi::ptt::cmd_ints},
    {"noints", "", "charge interrupts to the interrupted thread", pi::ptt::cmd_noints},
};

std::string short_help() {
  std::string text = "Usage: ptt COMMAND [OPTION]...\n\nCommands:\n";
  for (const auto& command : commands)
    text += fmt::format("  {:<8}{:<13} {}\n", command.name, command.arguments, command.summary);
  return text + "\n'ptt COMMAND --help' shows the options of a command, 'ptt --help' shows more.\n";
}

std::string command_table() {
  std::string text = cli::table_line({"usage", "ptt COMMAND [OPTION]..."});
  for (const auto& command : commands)
    text += cli::table_line({"command", command.name, command.arguments, command.summary});
  return text;
}

std::string long_help() {
  return short_help() + R"(
Per-Thread Time (PTT) counts cycles, instructions or other events separately
for every thread. Interrupts and other threads are not part of a thread's
counts. PTT needs the pitrace module. A program can count its own threads
without the module, with libperfutil (perfutil_ptt.h).

A measurement step by step:
  ptt init CYCLES page-faults   start to count
  ...                           run the program that you want to measure
  ptt dump -sm 1                show the threads, the one with most cycles first
  pttstats                      show the sums of the system and of each CPU
  ptt term                      stop

Exit status: 0 done, 1 failed, 255 wrong usage.
)";
}

int run(const Words& arguments) {
  const std::string word = arguments.empty() ? "" : arguments.front();
  if (word == "-??" || word == "--help" || word == "-help" || word == "-h") {
    fmt::print("{}", long_help());
    return cli::exit_good;
  }
  if (word == "-?" || word == "?") {
    fmt::print("{}", short_help());
    return cli::exit_good;
  }
  if (word == cli::help_table) {
    fmt::print("{}", command_table());
    return cli::exit_good;
  }
  if (word == "--version") {
    fmt::print("{}", cli::version_text("ptt"));
    return cli::exit_good;
  }
  const auto found = std::find_if(std::begin(commands), std::end(commands),
                                  [&](const Command& command) { return command.name == word; });
  if (found != std::end(commands)) return found->run({arguments.begin() + 1, arguments.end()});
  cli::error(word.empty() ? "No command is given." : fmt::format("Unknown command '{}'.", word));
  pi::cli::to_stderr(short_help());
  return cli::exit_usage;
}

}  // namespace

int main(int count, char** words) {
  return cli::run_tool("ptt", count, words, run);
}
