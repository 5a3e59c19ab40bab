// SPDX-License-Identifier: MIT
// post top: the browser of a trace on the terminal.
#ifndef POST_TOP_TOOL_H
#define POST_TOP_TOOL_H

#include <string>
#include <vector>

namespace post {

// words: those behind "top". Returns the exit status.
int run_top(const std::vector<std::string>& words);

}  // namespace post

#endif  // POST_TOP_TOOL_H
