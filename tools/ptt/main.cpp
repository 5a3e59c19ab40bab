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
    {"init", "[METRIC]...", "begin to count", pi::ptt::cmd_init},
    {"term", "", "end, whoever began", pi::ptt::cmd_term},
    {"info", "[--json]", "is it active, with which metrics", pi::ptt::cmd_info},
    {"dump", "[OPTION]...", "what each thread has had", pi::ptt::cmd_dump},
    {"ints", "", "interrupts have an account of their own", pi::ptt::cmd_ints},
    {"noints", "", "interrupts are on the thread that they meet", pi::ptt::cmd_noints},
};

std::string short_help() {
  std::string text = "Usage: ptt COMMAND [OPTION]...\n\nCommands:\n";
  for (const auto& command : commands)
    text += fmt::format("  {:<8}{:<13} {}\n", command.name, command.arguments, command.summary);
  return text + "\n'ptt COMMAND --help' tells a command's options, 'ptt --help' tells more.\n";
}

std::string long_help() {
  return short_help() + R"(
Per-Thread Time: the cycles, instructions or other counts of every thread, free of interrupts and of
other threads. Needs the pitrace module; programs measure themselves with libperfutil
(perfutil_ptt.h), also without it.

  ptt init CYCLES INSTR      begin
  ...                        whatever is to be measured
  ptt dump -sm 1             the threads, the costliest first
  pttstats                   the whole system, by CPU and by process
  ptt term                   end

Exit status: 0 done, 1 the operation failed, 255 wrong use.
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
  if (word == "--version") {
    fmt::print("{}", cli::version_text("ptt"));
    return cli::exit_good;
  }
  const auto found = std::find_if(std::begin(commands), std::end(commands),
                                  [&](const Command& command) { return command.name == word; });
  if (found != std::end(commands)) return found->run({arguments.begin() + 1, arguments.end()});
  cli::error(word.empty() ? "say what to do." : fmt::format("'{}' is no command.", word));
  fmt::print(stderr, "{}", short_help());
  return cli::exit_usage;
}

}  // namespace

int main(int count, char** words) {
  return cli::run_tool("ptt", count, words, run);
}
