// SPDX-License-Identifier: MIT
// The checksum of .gnu_debuglink: CRC-32 of IEEE 802.3.
#ifndef A2N_CRC32_H
#define A2N_CRC32_H

#include <cstdint>
#include <optional>
#include <span>

namespace a2n {

// Adds bytes to the checksum crc; the initial value is 0.
uint32_t crc32(uint32_t crc, std::span<const unsigned char> bytes);

// The checksum of a whole open file; nullopt when it cannot be read.
std::optional<uint32_t> file_crc32(int fd);

}  // namespace a2n

#endif  // A2N_CRC32_H
