// SPDX-License-Identifier: MIT
// The queries of the folder sql, which are part of the program.
#include "sql_files.h"

// In sql_files.S, in the order of Query; each ends with a zero.
extern "C" __attribute__((visibility("hidden"))) const char fleet_sql_duckdb[],
    fleet_sql_duckdb_paths[], fleet_sql_summary[], fleet_sql_top[], fleet_sql_stacks[],
    fleet_sql_paths[], fleet_sql_names[], fleet_sql_unnamed[], fleet_sql_hosts[], fleet_sql_diff[],
    fleet_sql_versions[], fleet_sql_page[], fleet_sql_page_stacks[], fleet_sql_source[],
    fleet_sql_source_days[], fleet_sql_compact[], fleet_sql_overlaps[], fleet_sql_schemas[],
    fleet_sql_cells[];

namespace fleet {

std::string sql(Query query,
                std::initializer_list<std::pair<std::string_view, std::string>> words) {
  const char* const texts[] = {
      fleet_sql_duckdb,      fleet_sql_duckdb_paths, fleet_sql_summary,     fleet_sql_top,
      fleet_sql_stacks,      fleet_sql_paths,        fleet_sql_names,       fleet_sql_unnamed,
      fleet_sql_hosts,       fleet_sql_diff,         fleet_sql_versions,    fleet_sql_page,
      fleet_sql_page_stacks, fleet_sql_source,       fleet_sql_source_days, fleet_sql_compact,
      fleet_sql_overlaps,    fleet_sql_schemas,      fleet_sql_cells};
  std::string_view rest = texts[static_cast<size_t>(query)];
  std::string text;
  while (!rest.empty()) {
    const size_t brace = rest.find('{');
    text += rest.substr(0, brace);
    if (brace == rest.npos) break;
    rest.remove_prefix(brace);
    size_t taken = 1;
    std::string_view put = rest.substr(0, 1);
    for (const auto& [word, value] : words)
      if (rest.size() > word.size() + 1 && rest.substr(1, word.size()) == word &&
          rest[word.size() + 1] == '}') {
        put = value;
        taken = word.size() + 2;
      }
    text += put;
    rest.remove_prefix(taken);
  }
  return text;
}

}  // namespace fleet
