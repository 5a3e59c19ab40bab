// SPDX-License-Identifier: MIT
// Cycles per instruction as text and as JSON.
#ifndef PI_CPI_REPORT_H
#define PI_CPI_REPORT_H

#include <string>

#include "json.h"

#include "perfutil.h"

namespace pi::cpi {

// A row for each CPU, unless system_only, and one for all of them.
std::string system_text(const cpi_data& data, bool system_only);
pi::Json system_json(const cpi_data& data, bool system_only);

// For a command and all processes that it started. name: as the user wrote it.
std::string command_text(const cpi_data& data, const std::string& name);
pi::Json command_json(const cpi_data& data, const std::string& name);

}  // namespace pi::cpi

#endif  // PI_CPI_REPORT_H
