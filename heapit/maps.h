// SPDX-License-Identifier: MIT
// The mappings of a process, read without allocating.
#ifndef PI_HEAPIT_MAPS_H
#define PI_HEAPIT_MAPS_H

#include <cstdint>
#include <string_view>

namespace pi::heapit {

struct MapsLine {
  uint64_t begin, end, offset, inode;
  bool readable, writable, executable, shared;
  std::string_view path;  // empty: no file
};

// Calls take(line) for each mapping until it returns false. path: that of a maps file in /proc.
// False: it cannot be read.
bool read_maps(const char* path, bool (*take)(const MapsLine& line, void* context), void* context);

inline constexpr char own_maps[] = "/proc/self/maps";

}  // namespace pi::heapit

#endif  // PI_HEAPIT_MAPS_H
