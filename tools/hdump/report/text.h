// SPDX-License-Identifier: MIT
// Parts of reports that several reports have.
#ifndef HDUMP_REPORT_TEXT_H
#define HDUMP_REPORT_TEXT_H

#include <string>
#include <string_view>

#include "report.h"

namespace hdump {

// The dump, its time, numbers of objects and bytes, what is missing.
std::string head_text(const Report& report);
std::string title_text(std::string_view title);
double percent_of(uint64_t part, uint64_t all);

}  // namespace hdump

#endif  // HDUMP_REPORT_TEXT_H
