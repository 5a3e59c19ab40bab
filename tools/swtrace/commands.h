// SPDX-License-Identifier: MIT
// The commands of swtrace: each takes the words behind its name and returns an exit status.
#ifndef PI_SWTRACE_COMMANDS_H
#define PI_SWTRACE_COMMANDS_H

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
int cmd_get(const Words& words);
int cmd_setrate(const Words& words);
int cmd_info(const Words& words);
int cmd_check(const Words& words);

struct Command {
  const char* name;
  const char* arguments;  // as short help shows them
  const char* summary;
  int (*run)(const Words& words);
};
const std::vector<Command>& all_commands();

std::string short_help();
std::string long_help();

// A number of bytes: "3" means MB, "64K", "64KB", "3M", "3MB" mean what they say. Nothing when it
// is none or does not fit 32 bits.
std::optional<uint32_t> parse_size(const std::string& text);

// A decimal, 0octal or 0xhex number up to most.
std::optional<int> parse_number(const std::string& text, int most);

// Asks the recorder; prints what went wrong. Nothing when there was no reply at all.
std::optional<Reply> ask(const Request& request);

// As ask(), for commands whose success needs no words: the exit status.
int ask_and_report(const Request& request);

}  // namespace pi::swtrace

#endif  // PI_SWTRACE_COMMANDS_H
