// SPDX-License-Identifier: MIT
// The table of commands, and swtrace's short and long help made from it.
#include <fmt/format.h>

#include "commands.h"

namespace pi::swtrace {

const std::vector<Command>& all_commands() {
  static const std::vector<Command> commands{
      {"init", "[OPTION]...", "allocate buffers and start the recorder", cmd_init},
      {"free", "", "end the recorder", cmd_free},
      {"enable", "[MAJOR]...", "have these majors recorded (tprof, dispatch, interrupt ...)",
       cmd_enable},
      {"disable", "[MAJOR]...", "have them left out", cmd_disable},
      {"maj", "", "list the majors that are enabled", cmd_maj},
      {"setrate", "[N]", "ticks a second, default 100", cmd_setrate},
      {"event", "list|NAME ...", "tick at every so many events instead", cmd_event},
      {"stacks", "WHICH", "stacks with ticks and dispatches: user, kernel, both, off", cmd_stacks},
      {"on", "", "start recording", cmd_on},
      {"off", "", "stop recording", cmd_off},
      {"suspend", "", "record nothing but names for a while", cmd_suspend},
      {"resume", "", "go on recording", cmd_resume},
      {"discard", "", "throw away what was recorded", cmd_discard},
      {"get", "[FILE]", "write the trace, default swtrace.nrm2", cmd_get},
      {"ai", "[INTERVAL]...", "idle, busy and interrupt time of every CPU; needs no trace", cmd_ai},
      {"ptt_int", "on|off", "PTT keeps interrupts apart from threads, or not", cmd_ptt_int},
      {"it_install", "[OPTION]...", "make ready to follow instructions (ITrace)", cmd_it_install},
      {"it_enable", "WHICH", "whose instructions: all, PID, PID-, PID-PID", cmd_it_enable},
      {"it_on", "", "follow them", cmd_it_on},
      {"it_run", "-- COMMAND", "follow a command from its first instruction on", cmd_it_run},
      {"it_off", "", "follow them no more", cmd_it_off},
      {"it_remove", "", "end ITrace", cmd_it_remove},
      {"it_info", "[--json]", "the state of ITrace", cmd_it_info},
      {"info", "[--json]", "the machine, the source and the trace's state", cmd_info},
      {"check", "[--json]", "examine everything that profiling needs", cmd_check},
  };
  return commands;
}

std::string short_help() {
  std::string text = "Usage: swtrace COMMAND [OPTION]...\n\nCommands:\n";
  for (const auto& command : all_commands())
    text += fmt::format("  {:<11}{:<13} {}\n", command.name, command.arguments, command.summary);
  text += "\n'swtrace COMMAND --help' tells a command's options, 'swtrace --help' tells more.\n";
  return text;
}

std::string long_help() {
  return short_help() + R"(
A profile step by step:
  swtrace init               buffers for every CPU; a recorder process holds them
  swtrace enable tprof       ticks, and the names of code and processes
  swtrace setrate 1000       1,000 ticks a second and CPU
  swtrace on                 start recording
  ...                        whatever is to be profiled
  swtrace off                stop recording
  swtrace get                write swtrace.nrm2
  swtrace free               end the recorder
  post -r swtrace.nrm2       make the report tprof.out

The records come from the pitrace module when its device can be opened, else from perf
('swtrace init --source driver|perf' forces one). 'swtrace check' tells which of them work
here and how to mend what does not.

Modes ('swtrace init -t MODE'):
  norm   Recording ends by itself when a buffer is full; 'off' then warns. Until 'get' has written
         it, the trace exists only in the recorder: it is lost when the recorder dies.
  cont   Everything goes to a file (-f) while it is recorded, for as long as the disk has room.
  wrap   The newest records survive, for days if need be; 'get' writes them at any moment. Names
         go to a file beside (-f FILE: FILE.mte).

Exit status: 0 done, 1 the operation failed, 255 wrong use.

Environment:
  PITRACE_SOCKET   absolute path of the recorder's socket, for a second recorder of a user
)";
}

}  // namespace pi::swtrace
