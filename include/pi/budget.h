// SPDX-License-Identifier: MIT
// What a reader may use for an input, in proportion to the input's real size.
#ifndef PI_BUDGET_H
#define PI_BUDGET_H

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace pi {

struct Budget {
  uint64_t floor;             // for any input
  uint64_t factor;            // and for each of its bytes
  uint64_t cap = UINT64_MAX;  // and never more

  constexpr uint64_t of(uint64_t bytes) const {
    if (factor != 0 && bytes > (UINT64_MAX - floor) / factor) return cap;
    return std::min(cap, floor + factor * bytes);
  }
};

// How much a file may claim to be, by what is stored of it: holes cost their maker nothing. File
// systems that compress store up to some thirty times less.
inline constexpr Budget sparse_file{64 << 20, 32};

// Bytes of a file that are stored. fd keeps its position.
inline uint64_t real_size(int fd, const struct stat& status) {
  const auto size = static_cast<uint64_t>(std::max<off_t>(status.st_size, 0));
  if (status.st_blocks > 0) return std::min(size, static_cast<uint64_t>(status.st_blocks) * 512);
  // Nothing is stored, or the file system does not count: some FUSE file systems.
  const off_t position = ::lseek(fd, 0, SEEK_CUR);
  const bool empty = ::lseek(fd, 0, SEEK_DATA) < 0 && errno == ENXIO;
  if (position >= 0) ::lseek(fd, position, SEEK_SET);
  return empty ? 0 : size;
}

}  // namespace pi

#endif  // PI_BUDGET_H
