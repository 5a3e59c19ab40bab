// SPDX-License-Identifier: MIT
// The commands of the command server: text into values, and their help.
#ifndef PI_JPROF_COMMANDS_H
#define PI_JPROF_COMMANDS_H

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pi::jprof {

enum class Verb {
  start,
  stop,
  flush,
  reset,
  force_gc,
  info,
  help,
  all_help,
  agent_help,
  all_agent_help,
  query_pid,
  verbose,
  log_commands,
  log_names,  // FNM=, LOGPATH=, LOGPREFIX=, LOGSUFFIX=
  lock_start,
  lock_start_lite,
  lock_stop,
  lock_dump,
  lock_reset,
  heap_dump,
  heap_dump_live,
  shutdown,
  refused,  // of Performance Inspector, or unknown
};

struct Command {
  Verb verb = Verb::refused;
  std::string text;       // as the client wrote it
  std::string option;     // LOGPATH=DIR and so on, for parse_options()
  bool gc_first = false;  // collect garbage before
  unsigned seconds = 0;   // START=SEC
  std::string problem;    // why it is refused, a sentence without its end
};

struct Answer {
  bool done = true;
  std::string text;  // for the user: lines, without the last line feed
};

// An answer that says that a command was not done.
inline Answer failed(const std::string& why) {
  return {false, why};
}

// Executes a command. Called by the server's thread only.
using Execute = std::function<Answer(const Command&)>;

// The commands of a message, which are separated by commas; at most max_commands.
constexpr size_t max_commands = 64;
std::vector<Command> parse_commands(std::string_view message);

// The text of HELP; all: with the commands that are refused.
std::string commands_help(bool all);

}  // namespace pi::jprof

#endif  // PI_JPROF_COMMANDS_H
