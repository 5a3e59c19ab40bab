// SPDX-License-Identifier: MIT
// Bytes as lower-case hexadecimal digits.
#ifndef PI_HEX_H
#define PI_HEX_H

#include <cstddef>
#include <span>
#include <string>

namespace pi {

inline std::string to_hex(std::span<const std::byte> bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte each : bytes) {
    text += digits[std::to_integer<unsigned>(each) >> 4];
    text += digits[std::to_integer<unsigned>(each) & 15];
  }
  return text;
}

}  // namespace pi

#endif  // PI_HEX_H
