// SPDX-License-Identifier: MIT
// Whether tables are of the kind and version that questions read, and where they were written.
#ifndef FLEET_SCHEMAS_H
#define FLEET_SCHEMAS_H

#include <string>
#include <vector>

#include "days.h"

namespace fleet {

// Refuses tables of another kind or version; warns of those that are elsewhere than where they were
// written. patterns: of tables of records, as literals of SQL, separated by commas.
pi::Status check_tables(Engine& engine, const std::string& patterns,
                        std::vector<std::string>& warnings);

// The same for the sources of a question: tables of another kind or version can have the columns
// that it needs, and would count.
pi::Status check_schemas(Engine& engine, const Question& question, const Sources& sources,
                         std::vector<std::string>& warnings);

// The names of the folder can be a table that has other columns, or other types.
pi::Status check_names(Engine& engine, const Question& question);

}  // namespace fleet

#endif  // FLEET_SCHEMAS_H
