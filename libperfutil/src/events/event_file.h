// SPDX-License-Identifier: MIT
// Events that users define themselves, in a text file: docs/man/pitrace-events.5.
#ifndef PI_PERFUTIL_EVENT_FILE_H
#define PI_PERFUTIL_EVENT_FILE_H

#include <string>
#include <string_view>
#include <vector>

#include <pi/result.h>

namespace pi::perfutil {

struct EventDefinition {
  std::string name;
  std::string event;  // a name that resolve_event() knows
  std::string meaning;
};

constexpr size_t max_event_file_bytes = 1 << 20;
constexpr size_t max_event_line_bytes = 1024;
constexpr size_t max_event_name_bytes = 63;
constexpr size_t max_event_definitions = 4096;

// Parses all of the text or fails; the error names where, the text's source, and the line.
// PU_ERROR_INVALID_PARAMETER.
Result<std::vector<EventDefinition>> parse_event_definitions(std::string_view text,
                                                             const std::string& where);

// The same for a regular file. PU_ERROR_FILE when it cannot be read.
Result<std::vector<EventDefinition>> read_event_file(const std::string& name);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_EVENT_FILE_H
