// SPDX-License-Identifier: MIT
// Makes the rows of each report: ticks grouped by its levels, sorted and clipped.
#ifndef POST_REPORT_ROWS_H
#define POST_REPORT_ROWS_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/report_kind.h"
#include "analysis/sample_tree.h"
#include "summary.h"

namespace post {

// The eight reports in their order; the one with offsets.
std::span<const ReportKind> report_kinds();
const ReportKind& offset_report_kind();

// The reports that the options ask for, without the one with offsets.
std::vector<const ReportKind*> chosen_reports(const ReportOptions& options);

const char* level_word(Level level);   // "process"
const char* level_label(Level level);  // "PID"

struct Row {
  uint32_t depth = 0;  // place in the kind's levels
  Level level = Level::process;
  uint64_t value = 0;  // of the level: a name's number or an offset
  uint64_t ticks = 0;
  std::optional<uint32_t> id = {};  // of the process or thread, if the whole row belongs to one
};

// A row before the rows it contains; siblings by ticks, then name. Rows below clip are left out.
std::vector<Row> make_rows(const SampleTree& tree, const StringTable& names, const ReportKind& kind,
                           uint64_t clip);

// The name, or the offset as 0xHEX.
std::string row_name(const Row& row, const StringTable& names);

}  // namespace post

#endif  // POST_REPORT_ROWS_H
