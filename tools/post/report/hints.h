// SPDX-License-Identifier: MIT
// Advice for programs many of whose ticks have no name.
#ifndef POST_HINTS_H
#define POST_HINTS_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/sample_tree.h"
#include "read/debian_packages.h"
#include "text/labels.h"
#include "text/string_table.h"

namespace post {

struct Hint {
  std::string program;   // the name of its processes, without their ids
  uint64_t ticks = 0;    // of all processes of that name
  uint64_t unnamed = 0;  // of these, ticks without a symbol or a module
  std::string text;      // the facts and what to do, one or two sentences
};

// Returns the Debian packages that own files; a file that no package owns is left out.
using FindPackages = std::function<Packages(const std::vector<std::string>& paths)>;

// The files in which ticks have no name: those of which hints may name the packages.
std::vector<std::string> files_without_names(const SampleTree& tree, const StringTable& names);

// A hint for each program of which more than 5 % of the ticks have no name, the one with the most
// such ticks first; at most five. notes: the remarks on symbols, which say why a file that they
// begin with could not be used: of such files no hint says anything. The tree and the names are
// those of reports with these labels.
std::vector<Hint> make_hints(const SampleTree& tree, const StringTable& names,
                             const LabelOptions& labels, const std::vector<std::string>& notes,
                             const FindPackages& find_packages);

}  // namespace post

#endif  // POST_HINTS_H
