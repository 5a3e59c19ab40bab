// SPDX-License-Identifier: MIT
// The questions about a fleet: runs their SQL and makes text or JSON of the rows.
#ifndef FLEET_QUESTIONS_H
#define FLEET_QUESTIONS_H

#include <pi/result.h>

#include <string>
#include <vector>

#include "engine.h"
#include "selection.h"

namespace fleet {

class CallPaths;

struct Question {
  std::string folder;
  Period period;
  std::vector<std::string> where;
  std::vector<std::string> a, b;  // further conditions on the two sides of diff
  int64_t at = Period::open_end;  // diff: A ends and B begins then
  std::string by = "function";    // top
  size_t lines = 20;              // 0: all
  double clip_percent = 0.1;      // diff
  bool paths = false;             // it is about call paths, too
  bool json = false;
  size_t width = 0;  // columns of the terminal; 0: text has lines of any length
  std::string html;  // a file for the page, instead of text; empty: none
};

// What can be counted by: the words of --by.
const char* const levels = "function|module|process|thread|service|cgroup|host|kernel|build";
bool is_level(const std::string& word);

// Text for the standard output. `warnings` are for people, and belong to it.
struct Answer {
  std::string text;
  std::vector<std::string> warnings;
};

// The call paths of the selected ticks; after make_views().
pi::Status read_call_paths(Engine& engine, const Question& question, CallPaths& paths);

pi::Result<Answer> report(Engine& engine, const Question& question);
pi::Result<Answer> top(Engine& engine, const Question& question);
pi::Result<Answer> flame(Engine& engine, const Question& question);
pi::Result<Answer> diff(Engine& engine, const Question& question);

}  // namespace fleet

#endif  // FLEET_QUESTIONS_H
