// SPDX-License-Identifier: MIT
// The commands of swtrace: each takes the words after its name and returns an exit status.
#ifndef PI_SWTRACE_COMMANDS_H
#define PI_SWTRACE_COMMANDS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol.h"

namespace pi::swtrace {

using Words = std::vector<std::string>;

int cmd_init(const Words& words);
int cmd_free(const Words& words);
int cmd_enable(const Words& words);
int cmd_disable(const Words& words);
int cmd_maj(const Words& words);
int cmd_on(const Words& words);
int cmd_off(const Words& words);
int cmd_suspend(const Words& words);
int cmd_resume(const Words& words);
int cmd_discard(const Words& words);
int cmd_get(const Words& words);
int cmd_setrate(const Words& words);
int cmd_event(const Words& words);
int cmd_stacks(const Words& words);
int cmd_ai(const Words& words);
int cmd_ptt_int(const Words& words);
int cmd_it_install(const Words& words);
int cmd_it_enable(const Words& words);
int cmd_it_remove(const Words& words);
int cmd_it_on(const Words& words);
int cmd_it_run(const Words& words);
int cmd_it_off(const Words& words);
int cmd_it_info(const Words& words);
int cmd_info(const Words& words);
int cmd_check(const Words& words);

struct Command {
  const char* name;
  const char* arguments;  // as short help shows them
  const char* summary;
  int (*run)(const Words& words);
};
const std::vector<Command>& all_commands();

// The command whose name differs from word by few characters; empty if there is none.
std::string similar_command(const std::string& word);

std::string short_help();
std::string long_help();

// What cli::help_table prints.
std::string command_table();

// A number of bytes: "64K", "64KB", "3M", "3MB"; a bare number counts units of `unit` bytes.
// Nothing if it is malformed or does not fit 32 bits.
std::optional<uint32_t> parse_size(const std::string& text, uint32_t unit = 1 << 20);

// A decimal, 0octal or 0xhex number up to most.
std::optional<int> parse_number(const std::string& text, int most);

// As parse_number() with most 255, or a major's name: exception, interrupt, syscall, tprof (its
// set), dispatch, switch, mte.
std::optional<int> parse_major(const std::string& text);

// The names that parse_major() knows.
std::vector<std::string> names_of_majors();

// The name and the number of a value of parse_major(): "dispatch (0x12)", or "0x71" if the major
// has no name.
std::string major_text(int major);

// The number of events for each tick, as part of a sentence.
std::string period_text(uint64_t period);

// Seconds: "90", "90s", "15m", "2h", "1d". Nothing if it is malformed, 0, or more than a year.
std::optional<int> parse_duration(const std::string& text);

// The absolute name, for the recorder, which has another working directory. Empty if there is none:
// the current directory has no path any more, or name is empty.
std::string absolute_path(const std::string& name);

// Prints the sizes of the trace file and its parts.
void print_file_sizes(const std::string& name);

// Sends a request to the recorder; prints its error. Nothing if there was no reply.
std::optional<Reply> ask(const Request& request);

// As ask(), for commands that print nothing on success. Returns the exit status.
int ask_and_report(const Request& request);

}  // namespace pi::swtrace

#endif  // PI_SWTRACE_COMMANDS_H
