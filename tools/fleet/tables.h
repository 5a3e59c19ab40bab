// SPDX-License-Identifier: MIT
// What questions have in common: the view of the selected rows, and facts about them.
#ifndef FLEET_TABLES_H
#define FLEET_TABLES_H

#include <optional>
#include <string>
#include <vector>

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
  int64_t idle = 0;   // of the ticks, those of the idle task
  int64_t first_micros = 0;
  int64_t last_micros = 0;
};

// Whether it is one of post --fleet, with a name that DuckDB can find.
pi::Status check_folder(const std::string& folder);

// Makes the views. two_sides: rows of A and B, else all are of A. Adds warnings about sums by day.
pi::Status make_views(Engine& engine, const Question& question, bool two_sides,
                      std::vector<std::string>& warnings);

// Sums by host and the columns of each set, made of the view records in one pass. After use(), the
// view has the sums of one set, and no losses.
class Cells {
 public:
  using Set = std::vector<std::string>;
  // Both must outlive this. two_sides: as for make_views().
  Cells(Engine& engine, const Question& question, bool two_sides)
      : engine_(engine), question_(question), two_sides_(two_sides) {}
  // After make_views().
  pi::Status make(const std::vector<Set>& sets);
  // One of these sets.
  pi::Status use(const Set& set);

 private:
  Engine& engine_;
  const Question& question_;
  const bool two_sides_;
  bool with_names_ = false;  // of pitrace-fleet resolve
  Set columns_;              // of all sets, as they are in the tables
};
// The columns of a word of --by.
Cells::Set columns_of(const std::string& level);

// The names that resolve has found, in the fleet's folder.
std::string names_file(const std::string& folder);

// Makes the view all_stacks, and those that it needs.
pi::Status make_stack_view(Engine& engine, const Question& question);

// Makes the view path_records: the selected rows of sums by stack. After make_views().
pi::Status make_path_view(Engine& engine, const Question& question, bool two_sides);

// An error if no tick is selected. Warnings about losses and kinds of ticks are added to the
// answer.
pi::Result<Summary> summarize(Engine& engine, Answer& answer);

// Facts of an answer.
std::string period_text(const Summary& summary);
std::string ticks_text(const Summary& summary);

// A warning, unless as many ticks have call paths as were selected: the tables of call paths may
// have been removed, or not copied.
std::optional<std::string> missing_paths(int64_t in_paths, int64_t selected,
                                         const Question& question);

std::string time_text(int64_t micros);  // "2026-11-27 10:30:00"
double percent(int64_t part, int64_t whole);

// The column of a word of --by and its module, for SQL.
std::string column_of(const std::string& level);
std::string module_of(const std::string& level);
// How an empty name is shown.
std::string shown(const std::string& name, const std::string& level);
// The name and its module, at the end of a line that has `before` columns already; shortened to fit
// into width, unless that is 0.
std::string shown_at_end(const std::string& name, const std::string& module,
                         const std::string& level, size_t before, size_t width);
// A fact about the answer: " NAME     : text", in several lines where width demands it.
std::string fact_line(const char* name, const std::string& text, size_t width);

}  // namespace fleet

#endif  // FLEET_TABLES_H
