// SPDX-License-Identifier: MIT
// Limits on memory or work for an input, in proportion to the input's real size.
#ifndef PI_BUDGET_H
#define PI_BUDGET_H

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace pi {

struct Budget {
  uint64_t floor;             // for every input
  uint64_t factor;            // added for each byte of the input
  uint64_t cap = UINT64_MAX;  // the maximum

  constexpr uint64_t of(uint64_t bytes) const {
    if (factor != 0 && bytes > (UINT64_MAX - floor) / factor) return cap;
    return std::min(cap, floor + factor * bytes);
  }
};

// The size that a file may claim, relative to its stored bytes: holes take no space. File systems
// with compression store up to about thirty times less.
inline constexpr Budget sparse_file{64 << 20, 32};

// The number of stored bytes of a file. Does not change fd's position.
inline uint64_t real_size(int fd, const struct stat& status) {
  const auto size = static_cast<uint64_t>(std::max<off_t>(status.st_size, 0));
  if (status.st_blocks > 0) return std::min(size, static_cast<uint64_t>(status.st_blocks) * 512);
  // No block is stored, or the file system does not count blocks, like some FUSE file systems.
  const off_t position = ::lseek(fd, 0, SEEK_CUR);
  const bool empty = ::lseek(fd, 0, SEEK_DATA) < 0 && errno == ENXIO;
  if (position >= 0) ::lseek(fd, position, SEEK_SET);
  return empty ? 0 : size;
}

}  // namespace pi

#endif  // PI_BUDGET_H
