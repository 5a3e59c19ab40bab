// SPDX-License-Identifier: MIT
// Text of other programs made harmless for a terminal.
#include <pi/printable.h>

#include <algorithm>
#include <cstdint>

#include <pi/hex.h>

namespace pi {
namespace {

uint32_t byte_at(std::string_view text, size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// Invisible characters, which can reverse, end or hide the rest of a line:
// zero-width characters, line separators, direction overrides, tags.
bool is_invisible(uint32_t code) {
  return (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
         (code >= 0xe0000 && code <= 0xe007f);
}

// Bytes of the valid, printable UTF-8 character at a position; 0 if there is none.
size_t character_size(std::string_view text, size_t at) {
  const uint32_t first = byte_at(text, at);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || size > text.size() - at) return 0;
  uint32_t code = first & (0xffu >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    const uint32_t next = byte_at(text, at + i);
    if ((next & 0xc0) != 0x80) return 0;
    code = code << 6 | (next & 0x3f);
  }
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  const bool control = code < 0xa0;
  return overlong || surrogate || control || is_invisible(code) || code > 0x10ffff ? 0 : size;
}

}  // namespace

std::string printable(std::string_view text, std::string_view kept) {
  // Nearly all names are of these characters.
  if (std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; }))
    return std::string(text);
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t size = character_size(text, at);
    if (kept.find(text[at]) != std::string_view::npos) {
      out += text[at++];
    } else if (size == 0) {
      const HexPair& digits = hex_pair(static_cast<uint8_t>(text[at++]));
      out.append("\\x").append(digits.data(), digits.size());
    } else {
      out.append(text, at, size);
      at += size;
    }
  }
  return out;
}

}  // namespace pi
