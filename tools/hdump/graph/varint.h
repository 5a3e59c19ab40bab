// SPDX-License-Identifier: MIT
// Numbers in as few bytes as they need: seven bits in each byte, the lowest first, and a bit that
// more follow.
#ifndef HDUMP_GRAPH_VARINT_H
#define HDUMP_GRAPH_VARINT_H

#include <cstddef>
#include <cstdint>

namespace hdump {

constexpr size_t longest_varint = 10;

// Returns the first byte behind it.
inline std::byte* put_varint(std::byte* at, uint64_t number) {
  for (; number >= 0x80; number >>= 7) *at++ = static_cast<std::byte>(number | 0x80);
  *at++ = static_cast<std::byte>(number);
  return at;
}

// Moves `at` behind it. For bytes that put_varint() wrote.
inline uint64_t take_varint(const std::byte*& at) {
  uint64_t number = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = std::to_integer<uint64_t>(*at++);
    number |= (byte & 0x7f) << shift;
    if (byte < 0x80) return number;
  }
}

// Small differences of either sign as small numbers.
inline uint64_t unsigned_of(int64_t difference) {
  return static_cast<uint64_t>(difference) << 1 ^ static_cast<uint64_t>(difference >> 63);
}
inline int64_t signed_of(uint64_t number) {
  return static_cast<int64_t>(number >> 1 ^ (~(number & 1) + 1));
}

}  // namespace hdump

#endif  // HDUMP_GRAPH_VARINT_H
