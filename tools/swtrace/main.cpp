// SPDX-License-Identifier: MIT
// swtrace: front end of the trace facility; finds the command and runs it.
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "cli.h"
#include "commands.h"
#include "stacks/table_child.h"

namespace pi::swtrace {
namespace {

const std::set<std::string> short_help_words{"?",     "-?",     "help",   "-help",
                                             "ayuda", "-ayuda", "syntax", "-h"};
const std::set<std::string> long_help_words{"??", "-??", "--help", "--ayuda"};

const Command* find_command(const std::string& word) {
  const std::string name = word == "itinit" ? "it_install" : word;  // a classic alias
  const auto& commands = all_commands();
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const Command& each) { return name == each.name; });
  return found == commands.end() ? nullptr : &*found;
}

int run(const Words& words) {
  if (words.empty()) {
    cli::error("No command given.");
    pi::cli::to_stderr(short_help());
    return cli::exit_usage;
  }
  const std::string& name = words.front();
  const Words rest(words.begin() + 1, words.end());
  if (const Command* command = find_command(name)) return command->run(rest);
  if (name == "help" && rest.size() == 1)
    if (const Command* command = find_command(rest.front())) return command->run({"--help"});
  if (short_help_words.count(name) != 0) {
    fmt::print("{}", short_help());
    return cli::exit_good;
  }
  if (long_help_words.count(name) != 0) {
    fmt::print("{}", long_help());
    return cli::exit_good;
  }
  if (name == cli::help_table) {
    fmt::print("{}", command_table());
    return cli::exit_good;
  }
  if (name == "--version") {
    fmt::print("{}", cli::version_text("swtrace"));
    return cli::exit_good;
  }
  const std::string similar = similar_command(name);
  cli::error(fmt::format("There is no command '{}'.{}", name,
                         similar.empty() ? "" : fmt::format(" Did you mean '{}'?", similar)));
  pi::cli::to_stderr("Try swtrace --help.\n");
  return cli::exit_usage;
}

}  // namespace
}  // namespace pi::swtrace

int main(int count, char** words) {
  if (count == 2 && std::string_view(words[1]) == pi::swtrace::table_child_word)
    ::_exit(pi::swtrace::table_child_main());
  return pi::cli::run_tool("swtrace", count, words, pi::swtrace::run);
}
