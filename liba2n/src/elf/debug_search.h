// SPDX-License-Identifier: MIT
// Candidate paths, in search order, of a module's file and its separate debug file. No I/O.
#ifndef A2N_DEBUG_SEARCH_H
#define A2N_DEBUG_SEARCH_H

#include <string>
#include <string_view>
#include <vector>

namespace a2n {

// Splits a ':'-separated list and drops empty parts.
std::vector<std::string> split_search_path(std::string_view path);

// For each directory: the whole path below it, then the path's last component in it.
std::vector<std::string> module_files(const std::vector<std::string>& directories,
                                      std::string_view path);

// .build-id/xx/yyyy.debug below each directory, then below /usr/lib/debug.
std::vector<std::string> build_id_files(const std::vector<std::string>& directories,
                                        std::string_view build_id);

// The file that .gnu_debuglink names: in each directory (first below the module's path there, then
// in the directory itself), in the module's directory, in .debug there, below /usr/lib/debug.
std::vector<std::string> debug_link_files(const std::vector<std::string>& directories,
                                          std::string_view module_path, std::string_view link);

}  // namespace a2n

#endif  // A2N_DEBUG_SEARCH_H
