// SPDX-License-Identifier: MIT
// What questions have in common: the view of the selected rows, and facts about them.
#ifndef FLEET_TABLES_H
#define FLEET_TABLES_H

#include <string>

#include "questions.h"

namespace fleet {

constexpr int schema_version = 1;  // of the JSON of all questions

// Begins each answer.
struct Summary {
  int64_t hosts = 0;
  int64_t kernels = 0;
  int64_t ticks = 0;
  int64_t lost = 0;
  int64_t kinds = 0;  // of ticks: what they count
  int64_t first_micros = 0;
  int64_t last_micros = 0;
};

// Whether it is one of post --fleet, with a name that DuckDB can find.
pi::Status check_folder(const std::string& folder);

// Makes the views. two_sides: rows of A and B, else all are of A. Adds warnings about sums by day.
pi::Status make_views(Engine& engine, const Question& question, bool two_sides,
                      std::vector<std::string>& warnings);

// The names that resolve has found, in the fleet's folder.
std::string names_file(const std::string& folder);

// Makes the view all_stacks, and those that it needs.
pi::Status make_stack_view(Engine& engine, const Question& question);

// Makes the view path_records: the selected rows of sums by stack. After make_views().
pi::Status make_path_view(Engine& engine, const Question& question, bool two_sides);

// An error if no tick is selected. Warnings about losses and kinds of ticks are added to the
// answer.
pi::Result<Summary> summarize(Engine& engine, Answer& answer);

std::string time_text(int64_t micros);  // "2026-11-27 10:30:00"
double percent(int64_t part, int64_t whole);

// The column of a word of --by and its module, for SQL.
std::string column_of(const std::string& level);
std::string module_of(const std::string& level);
// How an empty name is shown.
std::string shown(const std::string& name, const std::string& level);

}  // namespace fleet

#endif  // FLEET_TABLES_H
