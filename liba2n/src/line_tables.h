// SPDX-License-Identifier: MIT
// What the file names of a DWARF line table take when each is put together with its directory.
#ifndef A2N_LINE_TABLES_H
#define A2N_LINE_TABLES_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace a2n {

// Unpacked sections; empty where there is none.
struct LineSections {
  std::string_view lines;         // .debug_line
  std::string_view line_strings;  // .debug_line_str
  std::string_view strings;       // .debug_str
};

// Bytes of all names of the table at an offset of .debug_line, each with its directory and the
// unit's; counting ends behind limit. Nothing when the table's head makes no sense.
std::optional<uint64_t> file_name_bytes(const LineSections& sections, uint64_t offset,
                                        uint64_t unit_directory, uint64_t limit);

}  // namespace a2n

#endif  // A2N_LINE_TABLES_H
