// SPDX-License-Identifier: MIT
// The commands of ptt. Each returns the exit status.
#ifndef PI_PTT_COMMANDS_H
#define PI_PTT_COMMANDS_H

#include <string>
#include <vector>

namespace pi::ptt {

using Words = std::vector<std::string>;

int cmd_init(const Words& words);
int cmd_term(const Words& words);
int cmd_info(const Words& words);
int cmd_ints(const Words& words);
int cmd_noints(const Words& words);
int cmd_dump(const Words& words);

// Prints the error of the library's last call.
int failed();

}  // namespace pi::ptt

#endif  // PI_PTT_COMMANDS_H
