// SPDX-License-Identifier: MIT
// Bytes as lower-case hexadecimal digits: build-ids.
#ifndef PI_PERFUTIL_HEX_H
#define PI_PERFUTIL_HEX_H

#include <cstddef>
#include <span>
#include <string>

namespace pi::perfutil {

inline std::string to_hex(std::span<const std::byte> bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte each : bytes) {
    text += digits[std::to_integer<unsigned>(each) >> 4];
    text += digits[std::to_integer<unsigned>(each) & 15];
  }
  return text;
}

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_HEX_H
