// SPDX-License-Identifier: MIT
// Sums by day: pitrace-fleet compact writes them for each host, and most questions can read them
// instead of the tables of traces, of which they have a small part of the rows.
#ifndef FLEET_DAYS_H
#define FLEET_DAYS_H

#include <pi/result.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "questions.h"

namespace fleet {

// Whether whole days suffice for a question, and the columns that the sums have.
bool days_suffice(const Question& question);

// What a question reads: each folder of a host's day is in one of them. All are lists of SQL.
struct Sources {
  std::vector<std::string> records;  // patterns of the tables of traces
  std::vector<std::string> days;     // files of sums by day
  size_t missing = 0;  // days of hosts that have sums by day only, which cannot be used
  size_t mixed = 0;    // days of hosts of which neither sums nor tables have all
  // Days of hosts whose sums have more than the tables, for a question that needs the tables.
  size_t removed = 0;
  size_t stale = 0;  // sums by day whose traces have changed since
  // Folders of these hosts had traces of the same time when their sums were written.
  std::set<std::string> overlapping;
};
// The pattern of all tables of sums by function.
std::string all_tables(const std::string& folder);

// Calls back with "date=..." of each folder of a table, which has this path.
pi::Status each_date(const std::string& table, const Dates& dates,
                     const std::function<pi::Status(const std::string&)>& take);

// Calls back with "date=.../host=..." and the date of each folder of a table, which has this path.
pi::Status each_day(const std::string& table, const Dates& dates,
                    const std::function<pi::Status(const std::string&, const std::string&)>& take);

// What to do about such days.
std::string mixed_warning(size_t days);

pi::Result<Sources> sources_of(Engine& engine, const Question& question);

// Writes the sums of each host and day that is over, as far as its traces have changed since.
pi::Result<Answer> compact(Engine& engine, const std::string& folder);

}  // namespace fleet

#endif  // FLEET_DAYS_H
