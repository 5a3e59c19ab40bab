// SPDX-License-Identifier: MIT
// The table of commands, and swtrace's short and long help made from it.
#include <fmt/format.h>
#include <pi/similar_word.h>

#include "cli.h"
#include "commands.h"

namespace pi::swtrace {

const std::vector<Command>& all_commands() {
  static const std::vector<Command> commands{
      {"init", "[OPTION]...", "allocate buffers and start the recorder", cmd_init},
      {"free", "", "end the recorder and release its buffers", cmd_free},
      {"enable", "[MAJOR]...", "enable majors (event classes): tprof, dispatch ...", cmd_enable},
      {"disable", "[MAJOR]...", "disable majors", cmd_disable},
      {"maj", "", "list the enabled majors", cmd_maj},
      {"setrate", "[N]", "set the ticks (samples) a second, default 100", cmd_setrate},
      {"event", "list|EVENT ...", "take ticks by an event, instead of by time", cmd_event},
      {"stacks", "WHICH", "record call stacks: user, kernel, both, off", cmd_stacks},
      {"on", "", "start recording", cmd_on},
      {"off", "", "stop recording", cmd_off},
      {"suspend", "", "pause recording, except for names (MTE)", cmd_suspend},
      {"resume", "", "continue recording after suspend", cmd_resume},
      {"discard", "", "delete the records since 'on' and continue recording", cmd_discard},
      {"get", "[FILE]", "write the trace file, default swtrace.nrm2", cmd_get},
      {"ai", "[INTERVAL]...", "print how busy each CPU is; needs no trace", cmd_ai},
      {"ptt_int", "on|off", "count interrupts apart from threads in PTT, or not", cmd_ptt_int},
      {"it_install", "[OPTION]...", "prepare ITrace (branch trace)", cmd_it_install},
      {"it_enable", "WHICH", "add processes to ITrace: all, PID, PID-, PID-PID", cmd_it_enable},
      {"it_on", "", "start ITrace", cmd_it_on},
      {"it_run", "-- COMMAND", "run a command, traced from its first instruction", cmd_it_run},
      {"it_off", "", "stop ITrace", cmd_it_off},
      {"it_remove", "", "end ITrace and release its resources", cmd_it_remove},
      {"it_info", "[--json]", "show the state of ITrace", cmd_it_info},
      {"info", "[--json]", "show the machine and the state of the trace", cmd_info},
      {"check", "[--json]", "check everything that profiling needs", cmd_check},
  };
  return commands;
}

std::string similar_command(const std::string& word) {
  std::vector<std::string> names;
  for (const Command& each : all_commands()) names.emplace_back(each.name);
  return similar_word(word, names);
}

std::string short_help() {
  std::string text = "Usage: swtrace COMMAND [OPTION]...\n\nCommands:\n";
  for (const auto& command : all_commands())
    text += fmt::format("  {:<11}{:<13} {}\n", command.name, command.arguments, command.summary);
  text +=
      "\n'swtrace COMMAND --help' shows the options of a command, 'swtrace --help'\n"
      "explains more.\n";
  return text;
}

std::string command_table() {
  std::string text = cli::table_line({"usage", "swtrace COMMAND [OPTION]..."});
  for (const auto& command : all_commands())
    text += cli::table_line({"command", command.name, command.arguments, command.summary});
  std::string majors;
  for (const std::string& name : names_of_majors()) majors += (majors.empty() ? "" : " ") + name;
  return text + cli::table_line({"values", "MAJOR", majors});
}

std::string long_help() {
  return short_help() + R"(
A profile step by step:
  swtrace init            allocate buffers for every CPU; the recorder owns them
  swtrace enable tprof    enable ticks (samples) and the names of code
  swtrace setrate 1000    set 1,000 ticks a second on each CPU
  swtrace on              start recording
  ...                     run the workload
  swtrace off             stop recording
  swtrace get             write swtrace.nrm2
  swtrace free            end the recorder
  post -r swtrace.nrm2    make the report tprof.out

The pitrace module supplies the records if its device can be opened, otherwise
perf does. 'swtrace init --source driver' or '--source perf' selects one of
them. 'swtrace check' shows which of them work here, and how to fix each
problem.

Majors are event classes. The most important ones:
  tprof (0x10 and 0x19)   ticks, and the names that a report needs
  dispatch (0x12)         context switches
  mte (0x19)              names of code, processes and threads

Modes ('swtrace init -t MODE'):
  norm   Normal (stop when full): recording ends when one buffer is full, and
         'off' prints a warning. The trace is only in the memory of the recorder
         until 'get' writes it.
  cont   Continuous (streaming): records are written to a file (-f) while the
         trace runs, until the disk is full.
  wrap   Wrap-around (overwrite, flight recorder): the buffers keep the newest
         records. 'get' writes them at any time. Names are written to a second
         file (FILE.mte for -f FILE).

Exit status: 0 done, 1 the operation failed, 255 wrong use.

Environment:
  PITRACE_SOCKET   absolute path of the recorder's socket; a second recorder
                   needs its own
)";
}

}  // namespace pi::swtrace
