// SPDX-License-Identifier: MIT
// Text of other programs made harmless for a terminal.
#include <pi/printable.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include <pi/hex.h>

namespace pi {
namespace {

uint32_t byte_at(std::string_view text, size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// Invisible characters, which can reverse, end or hide the rest of a line, or make two names look
// alike: zero-width characters, fillers, line separators, direction overrides, variation selectors,
// tags. They are those of Unicode's property Default_Ignorable_Code_Point, and separators.
bool is_invisible(uint32_t code) {
  constexpr std::pair<uint32_t, uint32_t> ranges[] = {
      {0xad, 0xad},       {0x34f, 0x34f},    {0x61c, 0x61c},   {0x115f, 0x1160}, {0x17b4, 0x17b5},
      {0x180b, 0x180f},   {0x200b, 0x200f},  {0x2028, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164},
      {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},  {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3},
      {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};
  return std::ranges::any_of(
      ranges, [code](const auto& range) { return code >= range.first && code <= range.second; });
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
