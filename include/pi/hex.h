// SPDX-License-Identifier: MIT
// Bytes as hexadecimal digits.
#ifndef PI_HEX_H
#define PI_HEX_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace pi {

inline constexpr char hex_digits[] = "0123456789abcdef";
inline constexpr char upper_hex_digits[] = "0123456789ABCDEF";

using HexPair = std::array<char, 2>;

namespace hex_detail {
inline constexpr auto pairs = [] {
  std::array<HexPair, 256> table{};
  for (size_t byte = 0; byte < table.size(); ++byte)
    table[byte] = {hex_digits[byte >> 4], hex_digits[byte & 15]};
  return table;
}();
}  // namespace hex_detail

inline const HexPair& hex_pair(uint8_t byte) {
  return hex_detail::pairs[byte];
}

inline std::string to_hex(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte each : bytes) {
    const HexPair& pair = hex_pair(std::to_integer<uint8_t>(each));
    text.append(pair.data(), pair.size());
  }
  return text;
}

}  // namespace pi

#endif  // PI_HEX_H
