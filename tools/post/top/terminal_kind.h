// SPDX-License-Identifier: MIT
// Properties of the terminal from terminfo.
#ifndef POST_TOP_TERMINAL_KIND_H
#define POST_TOP_TERMINAL_KIND_H

#include <pi/result.h>

#include <string>

namespace post::top {

// An error with the reason and an alternative.
pi::Error no_terminal(const std::string& why);

// Whether terminfo describes the terminal on the standard output, and its cursor can be moved.
pi::Status check_kind();

}  // namespace post::top

#endif  // POST_TOP_TERMINAL_KIND_H
