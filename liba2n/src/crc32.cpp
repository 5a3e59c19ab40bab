// SPDX-License-Identifier: MIT
// The checksum of .gnu_debuglink: CRC-32 as of IEEE 802.3.
#include "crc32.h"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "pi/files.h"

namespace a2n {
namespace {

using Tables = std::array<std::array<uint32_t, 256>, 8>;

// tables[k][b]: what byte b contributes when k more bytes follow it.
constexpr Tables make_tables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? 0xedb88320u : 0);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < tables.size(); ++k) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t crc = tables[k - 1][byte];
      tables[k][byte] = (crc >> 8) ^ tables[0][crc & 0xff];
    }
  }
  return tables;
}

constexpr Tables tables = make_tables();

}  // namespace

uint32_t crc32(uint32_t crc, std::span<const unsigned char> bytes) {
  crc = ~crc;
  // Eight bytes a step: debug files have hundreds of megabytes.
  while (bytes.size() >= 8) {
    uint32_t next = 0;
    for (size_t i = 0; i < 4; ++i) {
      next ^= tables[7 - i][(bytes[i] ^ (crc >> (8 * i))) & 0xff];
      next ^= tables[3 - i][bytes[4 + i]];
    }
    crc = next;
    bytes = bytes.subspan(8);
  }
  for (const unsigned char byte : bytes) crc = (crc >> 8) ^ tables[0][(crc ^ byte) & 0xff];
  return ~crc;
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
