// SPDX-License-Identifier: MIT
// Counts the ticks of programs whose callers in generated code have no name.
#ifndef POST_HINT_CALLERS_H
#define POST_HINT_CALLERS_H

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "analysis/call_tree.h"
#include "text/labels.h"

namespace post {

bool is_file(std::string_view module);
// Memory in which runtimes put code; not the kernel, whose modules have plain names.
bool is_generated(Found found, std::string_view module);

struct CallerNames {
  bool known = false;       // there are stacks with a caller
  uint64_t unnamed = 0;     // ticks with a caller in generated code that has no name
  bool has_python = false;  // a caller has the name of a Python function
};

// By the name of a program's processes, without their ids.
std::map<std::string, CallerNames> count_caller_names(const CallTree& calls,
                                                      const LabelOptions& labels);

}  // namespace post

#endif  // POST_HINT_CALLERS_H
