// SPDX-License-Identifier: MIT
// The text of the info section of a trace that is made from a recording of perf.
#ifndef PI_PERFUTIL_IMPORT_INFO_H
#define PI_PERFUTIL_IMPORT_INFO_H

#include <string>
#include <vector>

#include "file/info_section.h"
#include "recording.h"

namespace pi::perfutil {

// damage: what is wrong with the recording, or "".
InfoText describe_import(const PerfFile& file, const Recording& recording,
                         const std::string& damage, const std::string& kallsyms_state);

// "BUILDID PATH" lines.
std::string build_id_lines(const PerfFile& file);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_IMPORT_INFO_H
