// SPDX-License-Identifier: MIT
// The queries of the folder sql, which are part of the program.
#ifndef FLEET_SQL_FILES_H
#define FLEET_SQL_FILES_H

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace fleet {

enum class Query {
  duckdb,
  duckdb_paths,
  summary,
  top,
  stacks,
  paths,
  names,
  unnamed,
  hosts,
  diff,
  versions,
  page,
  page_stacks,
  source,
  source_days,
  compact,
  overlaps,
  schemas,
  cells
};

// The query, with each {WORD} of the list replaced.
std::string sql(Query query,
                std::initializer_list<std::pair<std::string_view, std::string>> words = {});

}  // namespace fleet

#endif  // FLEET_SQL_FILES_H
