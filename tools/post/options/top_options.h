// SPDX-License-Identifier: MIT
// The command line of post top.
#ifndef POST_TOP_OPTIONS_H
#define POST_TOP_OPTIONS_H

#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "options.h"

namespace post {

struct TopOptions {
  Options post;                              // what is counted; no report is written
  std::chrono::milliseconds interval{2000};  // between two reads of a file that grows
};

// words: those after "top". Returns the options, or the exit status after --help or wrong usage.
std::variant<TopOptions, int> parse_top_options(const std::vector<std::string>& words);

}  // namespace post

#endif  // POST_TOP_OPTIONS_H
