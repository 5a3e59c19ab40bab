// SPDX-License-Identifier: MIT
// The options that say which records and ticks are used and where symbols come from: those that
// post and post top have in common.
#ifndef POST_SELECTION_OPTIONS_H
#define POST_SELECTION_OPTIONS_H

#include <cli.h>

#include <string>
#include <vector>

#include "options.h"

namespace post {

// Adds the groups of options: records, selection of the reports, symbols, JIT-compiled code.
void add_selection_groups(pi::cli::OptionTable& table);

// Stores the given options; returns an error message, or nothing.
std::string take_selection_options(const pi::cli::Values& given, Selection& selection,
                                   SymbolOptions& symbols);

// Stores the directories of --source-path; returns an error message, or nothing.
std::string take_source_path(const pi::cli::Values& given, std::vector<std::string>& directories);

}  // namespace post

#endif  // POST_SELECTION_OPTIONS_H
