// SPDX-License-Identifier: MIT
// The reports of logrt: tables for people, and JSON for programs.
#ifndef LOGRT_TABLES_H
#define LOGRT_TABLES_H

#include <string>
#include <vector>

#include "budget.h"
#include "changes.h"

namespace logrt {

struct ReportOptions {
  Level level = Level::method;
  enum class Sort { base, cumulated, calls } sort = Sort::base;
  size_t lines = 40;  // of a table; 0: all
};

// Sorts the rows. results: of a budget, empty without one.
std::string totals_text(const CallFlow& flow, Totals totals, const ReportOptions& options,
                        const std::vector<LimitResult>& results);
std::string totals_json(const CallFlow& flow, Totals totals, const ReportOptions& options,
                        const std::vector<LimitResult>& results);

std::string changes_text(const CallFlow& a, const CallFlow& b, const std::vector<Change>& changes,
                         const ReportOptions& options);
std::string changes_json(const CallFlow& a, const CallFlow& b, const std::vector<Change>& changes,
                         const ReportOptions& options);

}  // namespace logrt

#endif  // LOGRT_TABLES_H
