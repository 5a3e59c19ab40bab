// SPDX-License-Identifier: MIT
// Whether tables are of the kind and version that questions read, and where they were written.
#include "schemas.h"

#include <fmt/format.h>
#include <pi/printable.h>

#include <filesystem>

#include "selection.h"
#include "sql_files.h"
#include "tables.h"

namespace fleet {

pi::Status check_names(Engine& engine, const Question& question) {
  const std::string file = names_file(question.folder);
  const auto rows =
      engine.query(fmt::format("SELECT MAX(TRY(decode(value))) FROM parquet_kv_metadata({}) WHERE "
                               "TRY(decode(key)) = 'pitrace.schema'",
                               literal(file)));
  if (!rows) return rows.error();
  const std::string schema = rows->empty() ? "" : text(rows->front()[0]);
  if (schema.starts_with("names 2.")) return {};
  return pi::Error{
      -1, fmt::format("{} has the schema '{}', not 'names 2.x': pitrace-fleet resolve of this "
                      "version has not written it. Move it away, and call resolve again.",
                      pi::printable(file), pi::printable(schema))};
}

namespace {

// Whether a folder of a day has a table: a pattern that finds none is an error of DuckDB.
bool has_table(const std::string& day) {
  std::error_code problem;
  std::filesystem::recursive_directory_iterator at(day, problem);
  for (; !problem && at != std::filesystem::recursive_directory_iterator(); at.increment(problem))
    if (at.depth() == 1 && at->path().filename().string().ends_with(".parquet")) return true;
  return false;
}

}  // namespace

pi::Status check_schemas(Engine& engine, const Question& question, const Sources& sources,
                         std::vector<std::string>& warnings) {
  std::string patterns;
  const auto add = [&](const std::string& pattern) {
    patterns += (patterns.empty() ? "" : ", ") + literal(pattern);
  };
  // Not the files of other days.
  const std::string all = all_tables(question.folder), table = question.folder + "/records";
  for (const std::string& pattern : sources.records) {
    if (pattern != all) {
      add(pattern);
      continue;
    }
    const pi::Status status =
        each_date(table, dates_of(question.period), [&](const std::string& day) {
          if (has_table(table + "/" + day)) add(table + "/" + day + "/*/*.parquet");
          return pi::Status();
        });
    if (!status) return status;
  }
  return patterns.empty() ? pi::Status() : check_tables(engine, patterns, warnings);
}

pi::Status check_tables(Engine& engine, const std::string& patterns,
                        std::vector<std::string>& warnings) {
  constexpr std::string_view needed = "records 3.";
  const auto rows =
      engine.query(sql(Query::schemas, {{"files", "[" + patterns + "]"},
                                        {"needed", literal(fmt::format("{}%", needed))}}));
  if (!rows) return rows.error();
  for (const Row& row : *rows) {
    const std::string file = pi::printable(text(row[2]));
    if (whole(row[0]) != 0)
      return pi::Error{
          -1, fmt::format("{} has the schema '{}', not '{}x': if it is a table of post --fleet of "
                          "another version, write all of them again, in a new folder; else it does "
                          "not belong there.",
                          file, pi::printable(text(row[3])), needed)};
    const int64_t count = whole(row[1]);
    warnings.push_back(fmt::format(
        "{} not where post has written {}: {} was {}. What is there twice counts twice, and all "
        "of it as of the host that the folder's name has.",
        count == 1 ? "A table is" : fmt::format("{} tables are", count), count == 1 ? "it" : "them",
        file, pi::printable(text(row[4]))));
  }
  return {};
}

}  // namespace fleet
