// SPDX-License-Identifier: MIT
// Parses the file that describes additional reports (-x).
#ifndef POST_EXTRA_REPORTS_H
#define POST_EXTRA_REPORTS_H

#include <pi/result.h>

#include <string>
#include <string_view>
#include <vector>

#include "analysis/report_kind.h"

namespace post {

// One report a line: its levels as digits, 1 process, 2 thread, 3 module, 4 symbol, 5 offset, from
// the outermost to the innermost. The error names path and the line.
pi::Result<std::vector<ReportKind>> parse_extra_reports(std::string_view text,
                                                        const std::string& path);

}  // namespace post

#endif  // POST_EXTRA_REPORTS_H
