// SPDX-License-Identifier: MIT
// The checksum of .gnu_debuglink: CRC-32 of IEEE 802.3, computed by liblzma.
#include "crc32.h"

#include <lzma.h>

#include <cstddef>
#include <span>
#include <vector>

#include "pi/files.h"

namespace a2n {

uint32_t crc32(uint32_t crc, std::span<const unsigned char> bytes) {
  return ::lzma_crc32(bytes.data(), bytes.size(), crc);
}

std::optional<uint32_t> file_crc32(int fd) {
  std::vector<unsigned char> buffer(1 << 18);
  uint32_t crc = 0;
  for (uint64_t at = 0;;) {
    const auto got = pi::read_at(fd, at, std::as_writable_bytes(std::span(buffer)));
    if (got.error != 0) return std::nullopt;
    if (got.bytes == 0) return crc;
    crc = crc32(crc, std::span(buffer).first(got.bytes));
    at += got.bytes;
  }
}

}  // namespace a2n
