// SPDX-License-Identifier: MIT
// Properties of the terminal from terminfo. A separate file, because term.h defines macros such as
// lines and tab.
#include "terminal_kind.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "text/text.h"

#include <curses.h>
#include <term.h>

namespace post::top {

pi::Error no_terminal(const std::string& why) {
  return {-1, why + " 'post --page' prints the page instead."};
}

pi::Status check_kind() {
  const char* const kind = std::getenv("TERM");
  if (!kind || !*kind) return no_terminal("TERM is not set: which terminal this is is not known.");
  int found = 0;
  if (::setupterm(kind, STDOUT_FILENO, &found) != OK)
    return no_terminal(
        fmt::format("the terminal '{}' (TERM) is not known here; another name, such as "
                    "xterm or vt100, may do.",
                    printable(kind)));
  char name[] = "cup";
  const char* const moves = ::tigetstr(name);
  if (moves && moves != reinterpret_cast<char*>(-1)) return {};
  return no_terminal(
      fmt::format("the terminal '{}' (TERM) cannot move its cursor.", printable(kind)));
}

}  // namespace post::top
