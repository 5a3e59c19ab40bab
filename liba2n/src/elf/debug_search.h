// SPDX-License-Identifier: MIT
// Where a module's file and its separate debug file are looked for, in order. Names only, no I/O.
#ifndef A2N_DEBUG_SEARCH_H
#define A2N_DEBUG_SEARCH_H

#include <string>
#include <string_view>
#include <vector>

namespace a2n {

// The parts of a ':'-separated list that are not empty.
std::vector<std::string> split_search_path(std::string_view path);

// For each directory the whole path below it, then the last component in it.
std::vector<std::string> module_files(const std::vector<std::string>& directories,
                                      std::string_view path);

// .build-id/xx/yyyy.debug below each directory, then below /usr/lib/debug.
std::vector<std::string> build_id_files(const std::vector<std::string>& directories,
                                        std::string_view build_id);

// The file that .gnu_debuglink names: in each directory (below it like the module, then directly),
// beside the module, in .debug there, below /usr/lib/debug.
std::vector<std::string> debug_link_files(const std::vector<std::string>& directories,
                                          std::string_view module_path, std::string_view link);

}  // namespace a2n

#endif  // A2N_DEBUG_SEARCH_H
