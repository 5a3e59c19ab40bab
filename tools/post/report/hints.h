// SPDX-License-Identifier: MIT
// Advice on programs with many ticks or callers that have no name.
#ifndef POST_HINTS_H
#define POST_HINTS_H

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "analysis/call_tree.h"
#include "analysis/sample_tree.h"
#include "read/debian_packages.h"
#include "text/labels.h"
#include "text/string_table.h"

namespace post {

struct Hint {
  std::string program;   // the name of its processes, without their ids
  uint64_t ticks = 0;    // of all processes of that name
  uint64_t unnamed = 0;  // of these, ticks without a symbol or a module
  std::string text;      // the share and the remedy, one or two sentences
  std::string brief;     // the same in a few words, with the first remedy only
};

// Returns the Debian packages that own files; a file that no package owns is omitted.
using FindPackages = std::function<Packages(const std::vector<std::string>& paths)>;

// Returns the files whose ticks have no name; a hint may name their packages.
std::vector<std::string> files_without_names(const SampleTree& tree, const StringTable& names);

// Returns a hint for each program with more than 5 % of ticks without a name, or with callers
// without a name in the code of a known runtime, or whose interpreter's functions are not shown;
// the one with the most ticks without a name first; at most five, of which own programs come first.
// notes: the remarks on symbols, each of which begins with a file; a hint refers to those about
// files that are not used. The tree, the names and the calls are those of reports with these
// labels; no calls: the ticks have no stacks.
std::vector<Hint> make_hints(const SampleTree& tree, const StringTable& names,
                             const LabelOptions& labels, const std::vector<std::string>& notes,
                             const FindPackages& find_packages,
                             const std::set<std::string>& own = {},
                             const CallTree* calls = nullptr);

}  // namespace post

#endif  // POST_HINTS_H
